"""Every example is put together here, so that no scanner finds a token in this repository."""

from hashlib import sha1, sha256, sha512
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.text.secrets import RULES, find, mask

ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
HEX = "0123456789abcdef"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


def made(length, alphabet=ALNUM, seed=7):
    return "".join(Random(seed + length).choices(alphabet, k=length))


def pem_lines():
    return [*(made(64, seed=n) for n in range(4)), made(20) + "=="]


def pem(kind="RSA PRIVATE KEY", newline="\n", body=""):
    lines = [body] if body else pem_lines()
    return newline.join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----"])


def jwt():
    return ".".join(["ey" + "J" + made(20), "ey" + "J" + made(40), made(43)])


# rule name -> (text around it, the secret in it)
EXAMPLES = {
    "private-key": [(pem(body="{}"), "\n".join(pem_lines()))],
    "age-key": [("{}", "AGE-SECRET-" + "KEY-1" + made(58, UPPER))],
    "github-token": [
        *(("GH_TOKEN={} make", f"gh{kind}_" + made(36)) for kind in "pousr"),
        ("see {}.", "github" + "_pat_" + made(22) + "_" + made(59)),
    ],
    "gitlab-token": [("git push https://oauth2:{}@host/x", "gl" + "pat-" + made(20))],
    "aws-access-key": [("id {},", "AK" + "IA" + made(16, UPPER)), ("{}", "AS" + "IA" + "Q3" * 8)],
    "aws-secret-key": [
        ("aws_secret_access_key = {}", made(38) + "/+"),
        ('"SecretAccessKey": "{}"', made(40)),
    ],
    "slack-token": [("{}", "xox" + "b-" + made(12, "0123456789") + "-" + made(24))],
    "webhook": [("https://hooks." + "slack.com/services/{}", f"T{made(8)}/B{made(8)}/{made(24)}")],
    "stripe-key": [("{}", "sk_" + "live_" + made(24)), ("{}", "wh" + "sec_" + made(32))],
    "anthropic-key": [("export K={}", "sk-" + "ant-api03-" + made(40))],
    "openai-key": [("{}", "sk-" + made(48)), ("{}", "sk-" + "proj-" + made(60))],
    "google-key": [("?key={}", "AI" + "za" + made(35)), ("{}", "GOC" + "SPX-" + made(28))],
    "azure-key": [("AccountName=x;AccountKey={};", made(86) + "==")],
    "azure-signature": [("https://x.blob/y?sv=1&sig={}", made(43) + "%3D")],
    "npm-token": [("//registry/:_authToken={}", "np" + "m_" + made(36))],
    "pypi-token": [("{}", "py" + "pi-" + made(80))],
    "rubygems-key": [("{}", "ruby" + "gems_" + made(48, HEX))],
    "docker-token": [("{}", "dckr" + "_pat_" + made(27))],
    "huggingface-token": [("{}", "h" + "f_" + made(34))],
    "groq-key": [("{}", "gs" + "k_" + made(52))],
    "digitalocean-token": [("{}", "do" + "p_v1_" + made(64, HEX))],
    "shopify-token": [("{}", "sh" + "pat_" + made(32, HEX))],
    "sendgrid-key": [("{}", "S" + "G." + made(22) + "." + made(43))],
    "twilio-key": [("{}", "S" + "K" + made(32, HEX))],
    "telegram-token": [("bot {} runs", made(9, "123456789") + ":A" + "A" + made(33))],
    "databricks-token": [("{}", "da" + "pi" + made(32, HEX))],
    "vault-token": [("{}", "hv" + "s." + made(30))],
    "service-token": [("{}", "lin_" + "api_" + made(40)), ("{}", "ATA" + "TT3x" + made(60))],
    "jwt": [("cookie {} end", jwt())],
    "authorization": [
        ("Authorization: Bearer {}", made(30)),
        ("curl -H 'authorization: Basic {}'", "dXNlcjpw" + "YXNzd29yZA=="),
        ("sends Bearer {} each time", made(24)),
    ],
    "url-password": [
        ("postgres://app:{}@db.local/main", "s3" + "cr3t-pw"),
        ("redis://:{}@cache", "Zm9v" + "YmFy"),
    ],
    "password": [
        ("password={}", "hunt" + "er2x"),
        ('"password": "{}"', "correct horse " + "battery 9"),
        ("DB_PASS={}", "Tr0ub4" + "dor#3"),
        ("mysql --password {} -e", "pa55" + "w0rdy"),
        ("**Password:** {}", "Summer" + "2031!"),
    ],
    "secret-value": [
        ("token={}", made(24)),
        ("api_key: '{}'", made(32, HEX)),
        ("X-Api-Key: {}", made(20)),
        ("SECRET_KEY={}", made(50)),
        ('client_secret := "{}"', "abc123" + "def456"),
        ("deploy --token {} now", made(20)),
        ("?access_token={}&page=2", made(20)),
        ("The API key: {}.", made(20)),
    ],
}

CASES = [(name, *example) for name, examples in EXAMPLES.items() for example in examples]


def test_every_rule_has_an_example():
    assert list(EXAMPLES) == [rule.name for rule in RULES]


@pytest.mark.parametrize(("name", "around", "secret"), CASES)
def test_masked_with_its_surroundings_kept(name, around, secret):
    masked, found = mask(f"before\n{around.format(secret)}\nafter")
    assert found == (name,)
    assert secret not in masked
    assert masked == "before\n" + around.format(f"[masked:{name}]") + "\nafter"


@pytest.mark.parametrize(
    "text",
    [
        pem("OPENSSH PRIVATE KEY"),
        pem("PRIVATE KEY", "\r\n"),
        pem("EC PRIVATE KEY", "\\n"),
        "\n".join("    > " + line for line in pem().split("\n")),
        pem("PGP PRIVATE KEY BLOCK").rsplit("\n", 2)[0],  # cut off before its end
    ],
)
def test_private_keys_in_every_wrapping(text):
    masked, found = mask(f"key:\n{text}\n")
    assert found == ("private-key",)
    assert not any(line in masked for line in pem_lines())


DIGEST = sha256(b"x").hexdigest()

HARMLESS = [
    f"commit {sha1(b'x').hexdigest()} fixes it",
    f"sha256:{DIGEST}",
    f"digest: {DIGEST}",
    "id 123e4567-e89b-12d3-a456-426614174000",
    '"integrity": "sha512-' + sha512(b"x").hexdigest()[:86] + '=="',
    "![x](data:image/png;base64," + made(2000, ALNUM + "+/") + ")",
    "token=${TOKEN}",
    "TOKEN=$DEPLOY_TOKEN_V2",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "password: ****",
    "password = <your password 1>",
    "api_key=YOUR_API_KEY_123",
    'client(provider="fal", api_key="fal-ai-api-key")',
    "aws id AKIA" + "IOSFODNN7" + "EXAMPLE",
    "https://user:password@example.com/",
    "https://${USER}:${PASSWORD}@host/",
    "http://localhost:8080/a@b",
    "git@github.com:owner/repo.git",
    "token = get_token_v2(request)",
    "token: process.env.NPM_TOKEN_2",
    "password: string; minimum 8 characters",
    "password?: string",
    "Password: argon2id, never md5",
    "The token: a short-lived, signed string that names the user.",
    "Tokens: 128000 per request; max_tokens=4096",
    "token: 1234567890123",
    "secret: k8s/overlays/prod/db1.yaml",
    "secret_name: prod-database-credentials-2",
    "PWD=/home/user2/work",
    "if token == expected_token_2: return",
    "the risk-averse-disk-and-task-scheduler-for-everyone runs",
    "between -----BEGIN PRIVATE KEY----- and the line that says END",
    "Bearer authentication-scheme-names are case-insensitive",
    "Authorization: Bearer <token>",
    "npm_config_registry_is_set_by_the_environment_file",
    "hf_transfer speeds up downloads; pypi-publish is an action",
    "sk-learn and xoxo and AIzawa and eyJust",
    "primary key: customer_id_2024, foreign key: order_line_id_7",
    "cache key: sha256 of model and content",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_text_stays(text):
    assert mask(text) == (text, ())


def test_a_glued_second_token_does_not_escape():
    first, second = "gl" + "pat-" + made(20), "AK" + "IA" + made(16, UPPER)
    masked, found = mask(f"'{second}','{first}' password={first}")
    assert first not in masked
    assert second not in masked
    assert found == ("aws-access-key", "gitlab-token")


def test_line_structure_is_kept():
    text = f"a\r\n\r\ntoken={made(24)}\r\n- b\n"
    assert mask(text)[0] == "a\r\n\r\ntoken=[masked:secret-value]\r\n- b\n"


_PIECES = st.sampled_from(
    [example[0].format(example[1]) for examples in EXAMPLES.values() for example in examples]
    + ["token=", "password: ", "Bearer ", '"', "'", "[masked:jwt]", "\n", " ", "@", "://", ":"]
)
_TEXTS = st.one_of(st.text(), st.lists(_PIECES, max_size=5).map("".join))


@settings(max_examples=200)
@given(_TEXTS)
def test_masking_twice_changes_nothing_more(text):
    masked, _ = mask(text)
    assert mask(masked) == (masked, ())


@settings(max_examples=200)
@given(_TEXTS)
def test_finds_are_ordered_and_apart(text):
    last = 0
    for secret in find(text):
        assert last <= secret.start < secret.end <= len(text)
        last = secret.end
