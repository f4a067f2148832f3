"""Credentials that are known by what stands around or inside them: keys, addresses, headers."""

from schemory.safety.forms import ShapeForm

_BORDER = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"  # a word begins, or an escaped line did

SHAPE_FORMS: tuple[ShapeForm, ...] = (
    ShapeForm(
        "private-key",
        ("PRIVATE KEY",),
        r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:\s|\\[nr]|[\w-]{1,30}:[^\n\\]{0,120}(?:\n|\\n))*+"
        r"(?:(?:[A-Za-z0-9+/=]{16,}+|[A-Za-z0-9+/=]{3,}+(?=(?:\s|\\[nr])*+-----END))(?:\s|\\[nr])*+)++"
        r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?",
        "https://www.rfc-editor.org/rfc/rfc7468",
    ),
    ShapeForm(
        "putty-private-key",
        ("PuTTY-User-Key-File-",),
        r"PuTTY-User-Key-File-\d:(?:[^\n]*\n){1,40}?"
        r"Private-Lines: ?\d+\s+(?P<value>[A-Za-z0-9+/=]{16,}(?:\s+[A-Za-z0-9+/=]{16,})*)",
        "https://tartarus.org/~simon/putty-snapshots/htmldoc/AppendixC.html",
    ),
    ShapeForm(
        "connection-string",
        ("://",),
        r"://(?P<user>[^\s:/?#@\"'<>`]{0,100}):(?P<value>[^\s/@\"'`]{3,200})@[^\s/@]",
        "https://www.rfc-editor.org/rfc/rfc3986#section-3.2.1",
    ),
    ShapeForm(
        "connection-string",
        ("assword=", "ASSWORD=", "Pwd=", "pwd=", "PWD="),
        r"(?i:\b(?P<user>server|data source|host(?:addr|name)?|addr(?:ess)?|dsn|"
        r"jdbc:[a-z0-9:]{2,20}//))"
        r"(?:[^\n]{1,240}?[;?&] ?|[^\n,()]{1,240}? )(?i:password|pwd)="
        r"(?P<value>'[^'\n]{3,}'|[^\s;&'\"]{3,200})",
        "https://learn.microsoft.com/dotnet/framework/data/adonet/connection-string-syntax",
    ),
    ShapeForm(
        "netrc-password",
        ("machine ",),
        r"machine\s+\S+\s+login\s+(?P<user>\S+)\s+password\s+(?P<value>[^\s\"',]{3,})",
        "https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html",
    ),
    ShapeForm(
        "aws-secret-access-key",
        ("secret_access_key", "SECRET_ACCESS_KEY", "SecretAccessKey", "secretAccessKey"),
        r"(?i:secret_?access_?key)[\"'`]?\s{0,3}(?::=|=>|=|:)?\s{0,3}[\"'`]?"
        r"(?P<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        "https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_access-keys.html",
    ),
    ShapeForm(
        "azure-storage-key",
        ("AccountKey=", "SharedAccessKey="),
        r"(?:AccountKey|SharedAccessKey)=(?P<value>[A-Za-z0-9+/]{40,}={0,2})",
        "https://learn.microsoft.com/azure/storage/common/storage-configure-connection-string",
    ),
    ShapeForm(
        "azure-client-secret",
        ("Q~",),
        rf"{_BORDER}(?P<value>[A-Za-z0-9_~.\-]{{3}}[0-9]Q~[A-Za-z0-9_~.\-]{{31,34}})(?![A-Za-z0-9])",
        "https://learn.microsoft.com/entra/identity-platform/quickstart-register-app",
    ),
    ShapeForm(
        "slack-webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<value>[A-Za-z0-9]{6,}/[A-Za-z0-9]{6,}/[A-Za-z0-9]{16,})",
        "https://api.slack.com/messaging/webhooks",
    ),
    ShapeForm(
        "discord-webhook",
        ("/api/webhooks/",),
        r"discord(?:app)?\.com/api/webhooks/(?P<value>\d{15,21}/[A-Za-z0-9_\-]{40,})",
        "https://discord.com/developers/docs/resources/webhook",
    ),
    ShapeForm(
        "telegram-bot-token",
        (":AA",),
        rf"{_BORDER}(?P<value>[0-9]{{8,10}}:AA[A-Za-z0-9_\-]{{32,33}})(?![A-Za-z0-9_\-])",
        "https://core.telegram.org/bots/api#authorizing-your-bot",
    ),
    ShapeForm(
        "mailchimp-key",
        ("-us",),
        rf"{_BORDER}(?P<value>[0-9a-f]{{32}}-us[0-9]{{1,2}})(?![0-9A-Za-z])",
        "https://mailchimp.com/help/about-api-keys/",
    ),
    ShapeForm(
        "terraform-token",
        (".atlasv1.",),
        rf"{_BORDER}(?P<value>[A-Za-z0-9]{{14}}\.atlasv1\.[A-Za-z0-9_\-]{{60,}})",
        "https://developer.hashicorp.com/terraform/cloud-docs/users-teams-organizations/api-tokens",
    ),
    ShapeForm(
        "teams-webhook",
        ("webhook.office.com/",),
        r"\.webhook\.office\.com/webhookb2/(?P<value>[0-9a-f@\-]{73}/IncomingWebhook/[0-9a-z]{32}/[0-9a-f\-]{36})",
        "https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook",
    ),
    ShapeForm(
        "maxmind-key",
        ("_mmk",),
        rf"{_BORDER}(?P<value>[A-Za-z0-9]{{6}}_[A-Za-z0-9]{{29}}_mmk)(?![A-Za-z0-9])",
        "https://dev.maxmind.com/license-keys/",
    ),
    ShapeForm(
        "1password-secret-key",
        ("A3-",),
        rf"{_BORDER}(?P<value>A3-[A-Z0-9]{{6}}-(?:[A-Z0-9]{{11}}|[A-Z0-9]{{6}}-[A-Z0-9]{{5}})"
        r"(?:-[A-Z0-9]{5}){3})(?![A-Za-z0-9])",
        "https://support.1password.com/secret-key-security/",
    ),
)
