"""More credentials that begin with fixed letters, of services that fewer people use.

As `token_forms`: facts from the providers' public pages, held against public rule sets for
scanners in November 2026.
"""

from schemory.safety.forms import TokenForm

_B64URL = r"[A-Za-z0-9_\-]"
_ALNUM = r"[A-Za-z0-9]"

SERVICE_FORMS: tuple[TokenForm, ...] = (
    TokenForm(
        "adobe-client-secret", ("p8e-",), r"[A-Za-z0-9\-]{32}", "https://developer.adobe.com"
    ),
    TokenForm(
        "artifactory-token",
        ("AKCp", "cmVmd"),
        rf"{_ALNUM}{{59,73}}",
        "https://jfrog.com/help/r/jfrog-platform-administration-documentation/access-tokens",
    ),
    TokenForm(
        "clickhouse-key",
        ("4b1d",),
        rf"{_ALNUM}{{38}}",
        "https://clickhouse.com/docs/cloud/manage/openapi",
    ),
    TokenForm(
        "cloudflare-origin-key",
        ("v1.0-",),
        r"[0-9a-f]{24}-[0-9a-f]{146}",
        "https://developers.cloudflare.com/fundamentals/api/get-started/ca-keys/",
    ),
    TokenForm(
        "aws-bedrock-short-key",
        ("bedrock-api-key-",),
        r"[A-Za-z0-9+/]{40,}={0,2}",
        "https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html",
    ),
    TokenForm(
        "dropbox-token",
        ("sl.",),
        rf"(?:[A-Za-z]{{1,2}}\.)?{_B64URL}{{120,}}",
        "https://developers.dropbox.com/oauth-guide",
    ),
    TokenForm(
        "duffel-token",
        ("duffel_live_", "duffel_test_"),
        rf"{_B64URL}{{43}}=?",
        "https://duffel.com/docs/api/overview/test-mode",
    ),
    TokenForm(
        "easypost-key",
        ("EZAK", "EZTK"),
        rf"{_ALNUM}{{54}}",
        "https://docs.easypost.com/docs/api-keys",
    ),
    TokenForm(
        "facebook-token",
        ("EAAC", "EAAM"),
        rf"{_ALNUM}{{100,}}",
        "https://developers.facebook.com/docs/facebook-login/guides/access-tokens",
    ),
    TokenForm(
        "flutterwave-key",
        ("FLWSECK-", "FLWSECK_TEST-"),
        r"[0-9a-z]{12,40}(?:-X)?",
        "https://developer.flutterwave.com/docs/authentication",
    ),
    TokenForm("frameio-token", ("fio-u-",), rf"{_B64URL}{{63,64}}", "https://developer.frame.io"),
    TokenForm(
        "defined-networking-key",
        ("dnkey-",),
        rf"{_B64URL}{{26}}-{_B64URL}{{52}}",
        "https://docs.defined.net/guides/automating-host-creation/",
    ),
    TokenForm(
        "mapbox-secret-token",
        ("sk.eyJ",),
        rf"{_B64URL}{{40,}}\.{_B64URL}{{20,}}",
        "https://docs.mapbox.com/help/glossary/access-token/",
    ),
    TokenForm(
        "octopus-key",
        ("API-",),
        r"[A-Z0-9]{26}",
        "https://octopus.com/docs/octopus-rest-api/how-to-create-an-api-key",
    ),
    TokenForm(
        "openshift-token",
        ("sha256~",),
        rf"{_B64URL}{{43}}",
        "https://docs.openshift.com/container-platform/latest/authentication/configuring-internal-oauth.html",
    ),
    TokenForm(
        "scalingo-token", ("tk-us-",), rf"{_B64URL}{{48}}", "https://developers.scalingo.com"
    ),
    TokenForm(
        "settlemint-token",
        ("sm_aat_", "sm_pat_", "sm_sat_"),
        rf"{_ALNUM}{{16,64}}",
        "https://console.settlemint.com/documentation",
    ),
    TokenForm(
        "sonar-token",
        ("squ_", "sqp_", "sqa_"),
        r"[0-9a-f]{40}",
        "https://docs.sonarsource.com/sonarqube-server/user-guide/managing-tokens",
    ),
    TokenForm(
        "sourcegraph-token",
        ("sgp_",),
        r"(?:(?:[0-9a-f]{16}|local)_)?[0-9a-f]{40}",
        "https://sourcegraph.com/docs/cli/how-tos/creating_an_access_token",
    ),
    TokenForm(
        "square-production-token",
        ("EAAA",),
        rf"{_B64URL}{{60}}",
        "https://developer.squareup.com/docs/build-basics/access-tokens",
    ),
)
