"""Credentials that begin with fixed letters: facts from the providers' public pages.

Kept up by hand: a new form is one entry here and one maker in the corpus of the tests. Last held
against the providers' pages in July 2026, and against public rule sets in November 2026.
"""

from schemory.safety.forms import TokenForm

_B64URL = r"[A-Za-z0-9_\-]"
_ALNUM = r"[A-Za-z0-9]"
_HEX = r"[0-9a-f]"

TOKEN_FORMS: tuple[TokenForm, ...] = (
    # Code hosting and packages
    TokenForm(
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        r"[A-Za-z0-9_]{36,255}",
        "https://github.blog/changelog/2021-03-31-authentication-token-format-updates-are-generally-available",
    ),
    TokenForm(
        "github-fine-grained-token",
        ("github_pat_",),
        r"[A-Za-z0-9_]{36,255}",
        "https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github",
    ),
    TokenForm(
        "gitlab-token",
        (
            *("glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-"),
            *("glagent-", "gloas-", "glsoat-", "glffct-", "glwt-", "GR1348941"),
        ),
        rf"{_B64URL}{{20,300}}(?:\.[0-9a-z]{{2}}\.[0-9a-z]{{7,12}})?",
        "https://docs.gitlab.com/security/tokens/",
    ),
    TokenForm(
        "atlassian-token",
        ("ATATT3", "ATCTT3", "ATBB", "ATOA", "ATSTT3"),
        rf"{_B64URL}{{28,400}}(?:=[0-9A-F]{{8}})?",
        "https://support.atlassian.com/bitbucket-cloud/docs/using-access-tokens/",
    ),
    TokenForm(
        "npm-token", ("npm_",), rf"{_ALNUM}{{36,}}", "https://docs.npmjs.com/about-access-tokens"
    ),
    TokenForm(
        "pypi-token",
        ("pypi-AgE", "pypi-"),
        rf"{_B64URL}{{64,}}",
        "https://pypi.org/help/#apitoken",
    ),
    TokenForm(
        "rubygems-key",
        ("rubygems_",),
        rf"{_HEX}{{48}}",
        "https://guides.rubygems.org/api-key-scopes/",
    ),
    TokenForm("crates-io-token", ("cio",), rf"{_ALNUM}{{32}}", "https://crates.io/data-access"),
    TokenForm(
        "clojars-token",
        ("CLOJARS_",),
        rf"{_ALNUM}{{60}}",
        "https://github.com/clojars/clojars-web/wiki/Deploy-Tokens",
    ),
    TokenForm(
        "nuget-key",
        ("oy2",),
        r"[a-z0-9]{43}",
        "https://learn.microsoft.com/nuget/nuget-org/scoped-api-keys",
    ),
    TokenForm(
        "docker-token",
        ("dckr_pat_", "dckr_oat_"),
        rf"{_B64URL}{{27,}}",
        "https://docs.docker.com/security/access-tokens/",
    ),
    # Clouds and hosting
    TokenForm(
        "aws-access-key-id",
        ("AKIA", "ASIA", "ABIA", "ACCA"),
        r"[A-Z0-9]{16}",
        "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html",
    ),
    TokenForm(
        "aws-bedrock-key",
        ("ABSK",),
        r"[A-Za-z0-9+/]{100,}={0,2}",
        "https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html",
    ),
    TokenForm(
        "google-api-key",
        ("AIza",),
        rf"{_B64URL}{{35}}",
        "https://cloud.google.com/docs/authentication/api-keys",
    ),
    TokenForm(
        "google-oauth-secret",
        ("GOCSPX-",),
        rf"{_B64URL}{{24,32}}",
        "https://support.google.com/cloud/answer/6158849",
    ),
    TokenForm(
        "google-oauth-token",
        ("ya29.",),
        rf"{_B64URL}{{30,}}",
        "https://developers.google.com/identity/protocols/oauth2",
    ),
    TokenForm(
        "alibaba-access-key-id",
        ("LTAI",),
        rf"{_ALNUM}{{16,24}}",
        "https://www.alibabacloud.com/help/en/ram/user-guide/create-an-accesskey-pair",
    ),
    TokenForm(
        "digitalocean-token",
        ("dop_v1_", "doo_v1_", "dor_v1_"),
        rf"{_HEX}{{64}}",
        "https://docs.digitalocean.com/reference/api/create-personal-access-token/",
    ),
    TokenForm(
        "cloudflare-token",
        ("cfk_", "cfut_", "cfat_"),
        rf"{_ALNUM}{{40,64}}",
        "https://developers.cloudflare.com/fundamentals/api/get-started/token-formats",
    ),
    TokenForm(
        "heroku-key",
        ("HRKU-",),
        rf"{_B64URL}{{36,64}}",
        "https://devcenter.heroku.com/articles/authentication",
    ),
    TokenForm(
        "netlify-token", ("nfp_",), rf"{_ALNUM}{{36,}}", "https://docs.netlify.com/api/get-started/"
    ),
    TokenForm(
        "fly-token",
        ("fm1r_", "fm1a_", "fm2_", "fo1_"),
        r"[A-Za-z0-9+/=_\-]{40,}",
        "https://fly.io/docs/security/tokens/",
    ),
    TokenForm(
        "supabase-key",
        ("sbp_", "sb_secret_"),
        r"[A-Za-z0-9_\-]{30,}",
        "https://supabase.com/docs/guides/api/api-keys",
    ),
    TokenForm(
        "planetscale-token",
        ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"),
        r"[A-Za-z0-9_.=\-]{32,64}",
        "https://planetscale.com/docs/concepts/service-tokens",
    ),
    TokenForm(
        "databricks-token",
        ("dapi",),
        rf"{_HEX}{{32}}(?:-[0-9])?",
        "https://docs.databricks.com/dev-tools/auth/pat.html",
    ),
    TokenForm(
        "pulumi-token",
        ("pul-",),
        rf"{_HEX}{{40}}",
        "https://www.pulumi.com/docs/pulumi-cloud/access-management/access-tokens/",
    ),
    TokenForm(
        "vault-token",
        ("hvs.", "hvb.", "hvr."),
        rf"{_B64URL}{{24,}}",
        "https://developer.hashicorp.com/vault/docs/concepts/tokens",
    ),
    TokenForm(
        "doppler-token",
        ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."),
        r"[A-Za-z0-9_.\-]{40,64}",
        "https://docs.doppler.com/docs/service-tokens",
    ),
    TokenForm(
        "tailscale-key",
        ("tskey-",),
        r"[a-z]{2,12}-[A-Za-z0-9]{8,24}(?:-[A-Za-z0-9]{16,64})?",
        "https://tailscale.com/kb/1085/auth-keys",
    ),
    TokenForm(
        "1password-token",
        ("ops_eyJ",),
        rf"{_B64URL}{{60,}}=*",
        "https://developer.1password.com/docs/service-accounts/",
    ),
    TokenForm(
        "age-secret-key",
        ("AGE-SECRET-KEY-1",),
        r"[A-Z0-9]{58}",
        "https://github.com/C2SP/C2SP/blob/main/age.md",
    ),
    # Models
    TokenForm(
        "anthropic-key",
        ("sk-ant-",),
        rf"[a-z]{{2,10}}[0-9]{{2}}-{_B64URL}{{24,}}",
        "https://docs.anthropic.com/en/api/overview",
    ),
    TokenForm(
        "openrouter-key",
        ("sk-or-v1-",),
        rf"{_HEX}{{64}}",
        "https://openrouter.ai/docs/api-reference/authentication",
    ),
    TokenForm(
        "openai-key",
        ("sk-proj-", "sk-svcacct-", "sk-admin-"),
        rf"{_B64URL}{{32,}}",
        "https://platform.openai.com/docs/api-reference/authentication",
    ),
    TokenForm(
        "sk-key",
        ("sk-",),
        rf"{_ALNUM}{{32,64}}",
        "https://platform.openai.com/docs/api-reference/authentication",
    ),
    TokenForm(
        "huggingface-token",
        ("hf_",),
        rf"{_ALNUM}{{30,}}",
        "https://huggingface.co/docs/hub/security-tokens",
    ),
    TokenForm(
        "groq-key", ("gsk_",), rf"{_ALNUM}{{48,}}", "https://console.groq.com/docs/quickstart"
    ),
    TokenForm("xai-key", ("xai-",), rf"{_ALNUM}{{70,}}", "https://docs.x.ai/docs/overview"),
    TokenForm(
        "perplexity-key",
        ("pplx-",),
        rf"{_ALNUM}{{40,}}",
        "https://docs.perplexity.ai/getting-started/quickstart",
    ),
    TokenForm(
        "replicate-token",
        ("r8_",),
        rf"{_ALNUM}{{37,40}}",
        "https://replicate.com/docs/topics/security/api-tokens",
    ),
    # Messaging and mail
    TokenForm(
        "slack-token",
        (
            "xoxb-",
            "xoxp-",
            "xoxa-",
            "xoxr-",
            "xoxs-",
            "xoxo-",
            "xoxe-",
            "xoxc-",
            "xoxd-",
            "xoxe.xox",
            "xapp-",
        ),
        r"[A-Za-z0-9%\-]{20,400}",
        "https://api.slack.com/concepts/token-types",
    ),
    TokenForm(
        "sendgrid-key",
        ("SG.",),
        rf"{_B64URL}{{16,32}}\.{_B64URL}{{32,64}}",
        "https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys",
    ),
    TokenForm(
        "brevo-key",
        ("xkeysib-", "xsmtpsib-"),
        rf"{_HEX}{{64}}-{_ALNUM}{{16}}",
        "https://developers.brevo.com/docs/getting-started",
    ),
    TokenForm(
        "twilio-key",
        ("SK",),
        r"[0-9a-fA-F]{32}",
        "https://www.twilio.com/docs/glossary/what-is-a-sid",
    ),
    # Payments and shops
    TokenForm(
        "stripe-key",
        ("sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"),
        rf"{_ALNUM}{{16,}}",
        "https://docs.stripe.com/keys",
    ),
    TokenForm(
        "stripe-webhook-secret",
        ("whsec_",),
        r"[A-Za-z0-9+/=]{24,}",
        "https://docs.stripe.com/webhooks",
    ),
    TokenForm(
        "shopify-token",
        ("shpat_", "shpca_", "shppa_", "shpss_", "shptka_", "shpua_"),
        r"[0-9a-fA-F]{32}",
        "https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens",
    ),
    TokenForm(
        "square-token",
        ("sq0atp-", "sq0csp-", "sq0idp-"),
        rf"{_B64URL}{{22,60}}",
        "https://developer.squareup.com/docs/build-basics/access-tokens",
    ),
    TokenForm(
        "braintree-token",
        ("access_token$production$",),
        rf"[0-9a-z]{{16}}\${_HEX}{{32}}",
        "https://developer.paypal.com/braintree/docs/start/overview",
    ),
    TokenForm(
        "shippo-token",
        ("shippo_live_", "shippo_test_"),
        r"[0-9a-fA-F]{40}",
        "https://docs.goshippo.com/docs/guides_general/authentication/",
    ),
    # Work tools and monitoring
    TokenForm(
        "linear-key",
        ("lin_api_", "lin_oauth_"),
        rf"{_ALNUM}{{40,64}}",
        "https://linear.app/developers/graphql",
    ),
    TokenForm(
        "notion-token",
        ("ntn_", "secret_"),
        rf"{_ALNUM}{{43,50}}",
        "https://developers.notion.com/docs/authorization",
    ),
    TokenForm(
        "figma-token",
        ("figd_", "figu_"),
        rf"{_B64URL}{{40,}}",
        "https://www.figma.com/developers/api#access-tokens",
    ),
    TokenForm(
        "postman-key",
        ("PMAK-",),
        rf"{_HEX}{{24}}-{_HEX}{{34}}",
        "https://learning.postman.com/docs/developer/postman-api/authentication/",
    ),
    TokenForm(
        "airtable-token",
        ("pat",),
        rf"{_ALNUM}{{14}}\.{_HEX}{{64}}",
        "https://airtable.com/developers/web/guides/personal-access-tokens",
    ),
    TokenForm(
        "contentful-token",
        ("CFPAT-",),
        rf"{_B64URL}{{43,}}",
        "https://www.contentful.com/developers/docs/references/authentication/",
    ),
    TokenForm(
        "buildkite-token",
        ("bkua_", "bkct_"),
        rf"{_HEX}{{40}}",
        "https://buildkite.com/docs/apis/managing-api-tokens",
    ),
    TokenForm(
        "circleci-token",
        ("CCIPAT_", "CCIPRJ_"),
        r"[A-Za-z0-9_]{40,90}",
        "https://circleci.com/docs/managing-api-tokens/",
    ),
    TokenForm(
        "new-relic-key",
        ("NRAK-", "NRII-", "NRIQ-", "NRRA-"),
        r"[A-Za-z0-9_\-]{27,42}",
        "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/",
    ),
    TokenForm(
        "grafana-token",
        ("glsa_", "glc_"),
        r"[A-Za-z0-9_+/=]{40,}",
        "https://grafana.com/docs/grafana/latest/administration/service-accounts/",
    ),
    TokenForm(
        "sentry-token",
        ("sntrys_", "sntryu_"),
        r"[A-Za-z0-9_+/=]{60,}",
        "https://docs.sentry.io/account/auth-tokens/",
    ),
    TokenForm(
        "dynatrace-token",
        ("dt0c01.", "dt0s16."),
        r"[A-Z0-9]{8,24}\.[A-Z0-9]{64}",
        "https://docs.dynatrace.com/docs/manage/identity-access-management/access-tokens-and-oauth-clients/access-tokens",
    ),
    TokenForm(
        "prefect-key",
        ("pnu_", "pnb_"),
        rf"{_ALNUM}{{36}}",
        "https://docs.prefect.io/v3/how-to-guides/cloud/manage-users/api-keys",
    ),
    TokenForm(
        "readme-key",
        ("rdme_",),
        r"[a-z0-9]{70}",
        "https://docs.readme.com/main/reference/intro/authentication",
    ),
    TokenForm(
        "typeform-token",
        ("tfp_",),
        r"[A-Za-z0-9_.=\-]{40,64}",
        "https://www.typeform.com/developers/get-started/personal-access-token/",
    ),
    # Any provider
    TokenForm(
        "jwt",
        ("eyJ",),
        rf"{_B64URL}{{8,}}\.(?:eyJ{_B64URL}{{4,}}\.{_B64URL}{{3,}}|"
        rf"{_B64URL}{{8,}}\.{_B64URL}{{8,}})",
        "https://www.rfc-editor.org/rfc/rfc7519",
    ),
)
