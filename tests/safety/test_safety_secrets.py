"""The secret scan on a made corpus: what must be refused, what must pass, and what it costs."""

import base64
import random
import string
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.safety.secrets import Finding, find_secrets
from schemory.safety.service_forms import SERVICE_FORMS
from schemory.safety.shape_forms import SHAPE_FORMS
from schemory.safety.token_forms import TOKEN_FORMS

LETTERS = string.ascii_letters + string.digits
B64URL = LETTERS + "-_"
B64 = LETTERS + "+/"
HEX = "0123456789abcdef"
CAPITALS = string.ascii_uppercase + string.digits
INNOCENT = [
    line
    for line in (Path(__file__).parent / "innocent.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("##")
]

Chance = random.Random
Maker = Callable[[Chance], str]


def of(alphabet: str, length: int) -> Callable[[Chance], str]:
    return lambda chance: "".join(chance.choices(alphabet, k=length))


def joined(*parts: str | Maker) -> Maker:
    return lambda chance: "".join(p if isinstance(p, str) else p(chance) for p in parts)


def pem(kind: str, lines: int) -> Maker:
    body = "\n"
    dashes = "-" * 5

    def make(chance: Chance) -> str:
        text = body.join(of(B64, 64)(chance) for _ in range(lines))
        return f"{dashes}BEGIN {kind}{dashes}\n{text}\n{dashes}END {kind}{dashes}"

    return make


def jwt(chance: Chance) -> str:
    def part(text: str) -> str:
        return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()

    header, body = part('{"alg":"HS256","typ":"JWT"}'), part(f'{{"sub":"{chance.random()}"}}')
    return f"{header}.{body}.{of(B64URL, 42)(chance)}{of(LETTERS, 1)(chance)}"


# rule -> a maker of the value, by the lengths the providers document
KNOWN: dict[str, Maker] = {
    "github-token": joined("ghp_", of(LETTERS, 36)),
    "github-fine-grained-token": joined("github_pat_", of(LETTERS, 22), "_", of(LETTERS, 59)),
    "gitlab-token": joined("glpat-", of(B64URL, 19), of(LETTERS, 1)),
    "atlassian-token": joined("ATATT3", of(B64URL, 180), "=", of("0123456789ABCDEF", 8)),
    "npm-token": joined("npm_", of(LETTERS, 36)),
    "pypi-token": joined("pypi-AgE", of(B64URL, 150), of(LETTERS, 1)),
    "rubygems-key": joined("rubygems_", of(HEX, 48)),
    "crates-io-token": joined("cio", of(LETTERS, 32)),
    "clojars-token": joined("CLOJARS_", of(LETTERS, 60)),
    "nuget-key": joined("oy2", of(string.ascii_lowercase + string.digits, 43)),
    "docker-token": joined("dckr_pat_", of(B64URL, 26), of(LETTERS, 1)),
    "aws-access-key-id": joined("AKIA", of(CAPITALS, 16)),
    "aws-bedrock-key": joined("ABSK", of(B64, 128), "="),
    "google-api-key": joined("AIza", of(B64URL, 34), of(LETTERS, 1)),
    "google-oauth-secret": joined("GOCSPX-", of(B64URL, 27), of(LETTERS, 1)),
    "google-oauth-token": joined("ya29.", of(B64URL, 120), of(LETTERS, 1)),
    "alibaba-access-key-id": joined("LTAI", of(LETTERS, 20)),
    "digitalocean-token": joined("dop_v1_", of(HEX, 64)),
    "cloudflare-token": joined("cfut_", of(LETTERS, 48)),
    "heroku-key": joined("HRKU-", of(B64URL, 59), of(LETTERS, 1)),
    "netlify-token": joined("nfp_", of(LETTERS, 36)),
    "fly-token": joined("fm2_", of(B64, 120), "=="),
    "supabase-key": joined("sbp_", of(HEX, 40)),
    "planetscale-token": joined("pscale_tkn_", of(LETTERS, 43)),
    "databricks-token": joined("dapi", of(HEX, 32)),
    "pulumi-token": joined("pul-", of(HEX, 40)),
    "vault-token": joined("hvs.", of(B64URL, 90), of(LETTERS, 1)),
    "doppler-token": joined("dp.pt.", of(LETTERS, 43)),
    "tailscale-key": joined("tskey-auth-", of(LETTERS, 16), "-", of(LETTERS, 32)),
    "1password-token": joined("ops_eyJ", of(B64URL, 400), of(LETTERS, 1)),
    "age-secret-key": joined("AGE-SECRET-KEY-1", of(CAPITALS, 58)),
    "anthropic-key": joined("sk-ant-api03-", of(B64URL, 93), "AA"),
    "openrouter-key": joined("sk-or-v1-", of(HEX, 64)),
    "openai-key": joined("sk-proj-", of(B64URL, 120), of(LETTERS, 1)),
    "sk-key": joined("sk-", of(LETTERS, 48)),
    "huggingface-token": joined("hf_", of(LETTERS, 34)),
    "groq-key": joined("gsk_", of(LETTERS, 52)),
    "xai-key": joined("xai-", of(LETTERS, 80)),
    "perplexity-key": joined("pplx-", of(LETTERS, 48)),
    "replicate-token": joined("r8_", of(LETTERS, 37)),
    "slack-token": joined(
        "xoxb-", of(string.digits, 12), "-", of(string.digits, 12), "-", of(LETTERS, 24)
    ),
    "sendgrid-key": joined("SG.", of(B64URL, 22), ".", of(B64URL, 42), of(LETTERS, 1)),
    "brevo-key": joined("xkeysib-", of(HEX, 64), "-", of(LETTERS, 16)),
    "twilio-key": joined("SK", of(HEX, 32)),
    "stripe-key": joined("sk_live_", of(LETTERS, 24)),
    "stripe-webhook-secret": joined("whsec_", of(LETTERS, 32)),
    "shopify-token": joined("shpat_", of(HEX, 32)),
    "square-token": joined("sq0csp-", of(B64URL, 42), of(LETTERS, 1)),
    "braintree-token": joined(
        "access_token$production$", of(LETTERS.lower(), 16), "$", of(HEX, 32)
    ),
    "shippo-token": joined("shippo_live_", of(HEX, 40)),
    "linear-key": joined("lin_api_", of(LETTERS, 40)),
    "notion-token": joined("ntn_", of(LETTERS, 46)),
    "figma-token": joined("figd_", of(B64URL, 39), of(LETTERS, 1)),
    "postman-key": joined("PMAK-", of(HEX, 24), "-", of(HEX, 34)),
    "airtable-token": joined("pat", of(LETTERS, 14), ".", of(HEX, 64)),
    "contentful-token": joined("CFPAT-", of(B64URL, 42), of(LETTERS, 1)),
    "buildkite-token": joined("bkua_", of(HEX, 40)),
    "circleci-token": joined("CCIPAT_", of(LETTERS, 22), "_", of(HEX, 40)),
    "new-relic-key": joined("NRAK-", of(CAPITALS, 27)),
    "grafana-token": joined("glsa_", of(LETTERS, 32), "_", of(HEX, 8)),
    "sentry-token": joined("sntryu_", of(HEX, 64)),
    "dynatrace-token": joined("dt0c01.", of(CAPITALS, 24), ".", of(CAPITALS, 64)),
    "prefect-key": joined("pnu_", of(LETTERS, 36)),
    "readme-key": joined("rdme_", of(LETTERS.lower(), 70)),
    "typeform-token": joined("tfp_", of(LETTERS + "-_.=", 58), of(LETTERS, 1)),
    "adobe-client-secret": joined("p8e-", of(LETTERS, 32)),
    "artifactory-token": joined("AKCp", of(LETTERS, 69)),
    "clickhouse-key": joined("4b1d", of(LETTERS, 38)),
    "cloudflare-origin-key": joined("v1.0-", of(HEX, 24), "-", of(HEX, 146)),
    "aws-bedrock-short-key": joined("bedrock-api-key-", of(LETTERS, 120)),
    "dropbox-token": joined("sl.u.", of(B64URL, 134), of(LETTERS, 1)),
    "duffel-token": joined("duffel_live_", of(B64URL, 42), of(LETTERS, 1)),
    "easypost-key": joined("EZAK", of(LETTERS, 54)),
    "facebook-token": joined("EAAC", of(LETTERS, 180)),
    "flutterwave-key": joined("FLWSECK_TEST-", of("abcdefgh0123456789", 32), "-X"),
    "frameio-token": joined("fio-u-", of(B64URL, 63), of(LETTERS, 1)),
    "defined-networking-key": joined(
        "dnkey-", of(LETTERS, 26), "-", of(B64URL, 51), of(LETTERS, 1)
    ),
    "mapbox-secret-token": joined("sk.eyJ", of(LETTERS, 57), ".", of(LETTERS, 22)),
    "octopus-key": joined("API-", of(CAPITALS, 26)),
    "openshift-token": joined("sha256~", of(B64URL, 42), of(LETTERS, 1)),
    "scalingo-token": joined("tk-us-", of(B64URL, 47), of(LETTERS, 1)),
    "settlemint-token": joined("sm_pat_", of(LETTERS, 16)),
    "sonar-token": joined("squ_", of(HEX, 40)),
    "sourcegraph-token": joined("sgp_", of(HEX, 16), "_", of(HEX, 40)),
    "square-production-token": joined("EAAA", of(B64URL, 59), of(LETTERS, 1)),
    "teams-webhook": joined(
        "https://acme.webhook.office.com/webhookb2/",
        *(of(HEX, 8), "-", of(HEX, 4), "-4", of(HEX, 3), "-9", of(HEX, 3), "-", of(HEX, 12), "@"),
        *(of(HEX, 8), "-", of(HEX, 4), "-4", of(HEX, 3), "-9", of(HEX, 3), "-", of(HEX, 12)),
        *("/IncomingWebhook/", of(HEX, 32), "/", of(HEX, 8), "-", of(HEX, 4), "-4", of(HEX, 3)),
        *("-9", of(HEX, 3), "-", of(HEX, 12)),
    ),
    "maxmind-key": joined(of(LETTERS, 6), "_", of(LETTERS, 29), "_mmk"),
    "1password-secret-key": joined(
        *("A3-", of(CAPITALS, 6), "-", of(CAPITALS, 6), "-", of(CAPITALS, 5), "-"),
        *(of(CAPITALS, 5), "-", of(CAPITALS, 5), "-", of(CAPITALS, 5)),
    ),
    "jwt": jwt,
    "private-key": pem("RSA PRIVATE KEY", 12),
    "putty-private-key": joined(
        "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: c\nPublic-Lines: 1\n",
        *(of(B64, 60), "\nPrivate-Lines: 1\n", of(B64, 48)),
    ),
    "connection-string": joined("postgresql://app:", of(LETTERS, 12), "@db.internal:5432/prod"),
    "netrc-password": joined("machine git.internal login ci password ", of(LETTERS, 14)),
    "aws-secret-access-key": joined("aws_secret_access_key = ", of(B64, 40)),
    "azure-storage-key": joined("AccountName=acme;AccountKey=", of(B64, 86), "=="),
    "azure-client-secret": joined(
        of(LETTERS, 3), of(string.digits, 1), "Q~", of(B64URL, 33), of(LETTERS, 1)
    ),
    "slack-webhook": joined(
        "https://hooks.slack.com/services/T",
        of(CAPITALS, 8),
        "/B",
        of(CAPITALS, 8),
        "/",
        of(LETTERS, 24),
    ),
    "discord-webhook": joined(
        "https://discord.com/api/webhooks/", of("123456789", 18), "/", of(B64URL, 68)
    ),
    "telegram-bot-token": joined(of("123456789", 10), ":AA", of(LETTERS, 33)),
    "mailchimp-key": joined(of(HEX, 32), "-us14"),
    "terraform-token": joined(of(LETTERS, 14), ".atlasv1.", of(LETTERS, 67)),
}
PASSWORD = joined(of(LETTERS, 9), of(string.digits, 3))
TOKEN = joined(of(LETTERS, 28), of(string.digits, 4))
# What only the full scan finds: a name says that the value is a secret.
NAMED: dict[str, Maker] = {
    "quoted in code": joined('password = "', PASSWORD, '"'),
    "single quotes": joined("DB_PASSWORD: '", PASSWORD, "'"),
    "environment": joined("export SMTP_PASS=", PASSWORD),
    "plain word in the environment": joined("DB_PASSWORD=", of(string.ascii_lowercase, 12)),
    "yaml": joined("  password: ", PASSWORD, "\n  port: 5432"),
    "json": joined('{"user": "app", "password": "', PASSWORD, '"}'),
    "escaped json": joined('{\\"password\\": \\"', PASSWORD, '\\"}'),
    "typed": joined('password: str = "', PASSWORD, '"'),
    "go": joined('dbPassword := "', PASSWORD, '"'),
    "php": joined("'db_password' => '", PASSWORD, "',"),
    "xml": joined("<password>", PASSWORD, "</password>"),
    "flag": joined("mysqldump --password ", PASSWORD, " app"),
    "flag with sign": joined("psql --password=", PASSWORD),
    "markdown": joined("**Password:** ", PASSWORD),
    "backticks": joined("The admin password is `", PASSWORD, "`."),
    "sentence": joined("The root password is ", PASSWORD, ", ask Ann."),
    "query of an address": joined("https://example.org/cb?access_token=", TOKEN),
    "api key": joined('api_key = "', TOKEN, '"'),
    "camel case": joined('apiKey: "', TOKEN, '"'),
    "secret": joined("CLIENT_SECRET=", TOKEN),
    "npmrc": joined("//registry.npmjs.org/:_authToken=", TOKEN),
    "bearer": joined("Authorization: Bearer ", TOKEN),
    "basic": lambda chance: (
        "Authorization: Basic " + base64.b64encode(f"ci:{PASSWORD(chance)}".encode()).decode()
    ),
    "spanish": joined("contraseña: ", PASSWORD),
    "chinese": joined("密码\uff1a", PASSWORD),
    "german": joined("Passwort: ", PASSWORD),
    "beside": joined("Use the API key of the billing service (", TOKEN, ") for staging"),
}
ROUNDS = range(3)


@pytest.mark.parametrize("rule", KNOWN)
@pytest.mark.covers("safety.secrets.known-forms")
def test_a_known_form_is_found_wherever_it_stands(rule: str) -> None:
    for round_number in ROUNDS:
        secret = KNOWN[rule](random.Random(f"{rule}{round_number}"))
        for text in (secret, f"Rotate {secret} before Friday.", f"key:\\n{secret}", f'"{secret}",'):
            found = find_secrets(text, precise_only=True)
            assert [f.rule for f in found] == [rule], text
            assert text[found[0].start : found[0].end] in secret


def test_every_precise_rule_has_a_maker_in_this_corpus() -> None:
    tokens = {form.name for form in (*TOKEN_FORMS, *SERVICE_FORMS)}
    assert tokens | {form.name for form in SHAPE_FORMS} == set(KNOWN)


@pytest.mark.parametrize("kind", NAMED)
@pytest.mark.covers("safety.secrets.assignments")
def test_a_value_given_to_a_password_like_name_is_found(kind: str) -> None:
    for round_number in ROUNDS:
        text = NAMED[kind](random.Random(f"{kind}{round_number}"))
        found = find_secrets(text, precise_only=False)
        assert len(found) == 1, text
        assert text[found[0].start : found[0].end] in text


@pytest.mark.covers("safety.secrets.corpus")
def test_the_corpus_is_refused_and_innocent_text_passes(capsys: pytest.CaptureFixture[str]) -> None:
    secrets = [
        make(random.Random(f"{kind}{number}"))
        for kind, make in {**KNOWN, **NAMED}.items()
        for number in range(5)
    ]
    caught = [text for text in secrets if find_secrets(text, precise_only=False)]
    alarms = {text: found for text in INNOCENT if (found := find_secrets(text, precise_only=False))}
    with capsys.disabled():
        sys.stdout.write(
            f"\nsecrets refused: {len(caught)}/{len(secrets)} of {len(KNOWN) + len(NAMED)} kinds; "
            f"innocent texts passed: {len(INNOCENT) - len(alarms)}/{len(INNOCENT)}\n"
        )
    assert len(KNOWN) >= 20
    assert len(secrets) >= 60
    assert caught == secrets
    assert len(INNOCENT) >= 200
    assert alarms == {}


@pytest.mark.parametrize(
    "text",
    [
        "Password: moonlight",
        "The password is Mellon1",
        'password = "hunter2hunter2"',
        "PIN_CODE=1234567",
    ],
)
@pytest.mark.covers("safety.secrets.precise")
def test_a_storytellers_password_passes_the_precise_scan(text: str) -> None:
    assert find_secrets(text, precise_only=True) == ()


@pytest.mark.covers("safety.secrets.place")
def test_a_finding_tells_the_place_of_the_value_only() -> None:
    value = PASSWORD(random.Random(7))
    assert find_secrets(f'é password = "{value}"!', precise_only=False) == (
        Finding("password-assignment", 14, 14 + len(value)),
    )
    assert find_secrets(f"mongodb+srv://app:{value}@h/db", precise_only=True) == (
        Finding("connection-string", 18, 18 + len(value)),
    )


def test_several_secrets_are_all_found_in_order_and_never_twice() -> None:
    chance = random.Random(11)
    first, second = KNOWN["github-token"](chance), KNOWN["aws-access-key-id"](chance)
    text = f"GITHUB_TOKEN={first}\nAWS_ACCESS_KEY_ID={second}\n"
    found = find_secrets(text, precise_only=False)
    assert [(f.rule, text[f.start : f.end]) for f in found] == [
        ("github-token", first),
        ("aws-access-key-id", second),
    ]


@pytest.mark.parametrize(
    "template",
    [
        "Server=tcp:db;Database=x;User Id=app;Password={};Encrypt=true",
        "host=db user=app password={} sslmode=require",
        "jdbc:mysql://db:3306/app?user=app&password={}",
        "redis://:{}@cache:6379/0",
        "amqp://worker:{}@mq/",
        "https://ci:{}@git.internal/org/app.git",
    ],
)
@pytest.mark.covers("safety.secrets.known-forms")
def test_connection_strings_of_every_dialect_are_known_forms(template: str) -> None:
    value = PASSWORD(random.Random(template))
    found = find_secrets(template.format(value), precise_only=True)
    assert [f.rule for f in found] == ["connection-string"]


@given(st.text())
def test_any_text_can_be_scanned(text: str) -> None:
    for finding in find_secrets(text, precise_only=False):
        assert 0 <= finding.start < finding.end <= len(text)


@pytest.mark.covers("safety.secrets.light")
def test_importing_the_scan_compiles_no_rule_and_loads_nothing_heavy() -> None:
    code = (
        "import sys; before = set(sys.modules); import schemory.safety.secrets as s;"
        "print(sorted(set(sys.modules) - before), s._compiled.cache_info().currsize)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules, _, compiled = run.stdout.strip().rpartition(" ")
    assert compiled == "0"
    assert not {"json", "base64", "asyncio", "hashlib", "tomllib"} & set(eval(modules))  # noqa: S307 (our own output)


def test_hostile_repetition_does_not_stall_the_scan() -> None:
    dashes = "-" * 5
    for text in (
        "password " * 20_000,
        "://a:" * 40_000,
        f"{dashes}BEGIN PRIVATE KEY{dashes}\n" + "a: " * 60_000,
        f"{dashes}BEGIN PRIVATE KEY{dashes}\n" * 5_000,
        "token=" * 30_000,
        "eyJ" * 60_000,
        "host " * 30_000 + "password=x",
    ):
        begin = time.process_time()
        find_secrets(text, precise_only=False)
        assert time.process_time() - begin < 5
