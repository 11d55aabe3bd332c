"""Passwords, keys and tokens in a text: found by their known shapes, and masked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# These are compiled on first use, like the patterns of the rules: git hooks pay for every import.
_PLACEHOLDER = r"""(?ix)^[$%!@<]|\$\{|\{\{|%[sd]$|x{4,}|\*{3,}|\.{3,}|…
    |example|your|change_?me|placeholder|redacted|masked|dummy|insert|replace|todo
    |[-_](?:password|secret|token|key)$
    |^(?:my|the|new|old|db|user)?[-_]?(?:pass|password|passwd|pwd|secret|token|key)[-_]?\d?$"""
# Values that name a thing and are none themselves: paths, addresses, digests, dates, algorithms.
_NAMES_A_THING = r"""(?ix)^(?:[./~]*/|\w+://|sha\d+[-:]|\d{4}-\d\d-\d\d)
    |\.(?:ya?ml|json|toml|env|txt|md|pem|key|py|js|ts|go|rs|sh)$
    |^(?:argon2(?:id?|d)?|pbkdf2|bcrypt|scrypt|sha\d+|md5|base64|oauth2|x509|ed25519|[rehps]s\d{3}
    |rsa\d*|aes\d*)$"""
_RUN = "[A-Z]?[a-z]+|[A-Z]+|[0-9]+"
_SEPARATOR = "[-_.:/~]+"


def _always(value: str) -> bool:
    return True


def _holds_base64(value: str) -> bool:
    return bool(re.search("[A-Za-z0-9+/=]{24}", value))


def _is_concrete(value: str) -> bool:
    return not (re.search(_PLACEHOLDER, value) or re.search(_NAMES_A_THING, value))


def _reads_as_words(value: str) -> bool:
    """Tell a name in code or prose (``get_token_v2``) from a random string."""
    runs = re.findall(_RUN, value)
    words = [run for run in runs if run[0].isalpha()]
    numbers = [run for run in runs if not run[0].isalpha()]
    return (
        len(numbers) <= 1 + len(re.findall(_SEPARATOR, value))
        and all(len(number) <= 4 for number in numbers)
        and sum(map(len, words)) >= 3 * len(words)
    )


def _is_token(value: str) -> bool:
    return (
        len(set(value)) >= 6
        and any(char.isalpha() for char in value)
        and _is_concrete(value)
        and not _reads_as_words(value)
    )


def _is_password(value: str) -> bool:
    core = value.rstrip("?!*.")
    letters = any(char.isalpha() for char in core)
    mixed = any(char.isdigit() or char in "!@#$%^&*+?~" for char in core)
    return (
        len(set(core)) >= 4
        and (mixed if letters else core.isdigit())
        and _is_concrete(value)
        and not (re.search(_SEPARATOR, core) and _reads_as_words(core))
    )


class Rule(NamedTuple):
    """One shape of secret."""

    name: str
    hints: tuple[str, ...]  # in lower case; a text without any of them is not searched
    pattern: str  # its group "secret" is what is masked, or all of it
    accept: Callable[[str], bool] = _always


_NEW = r"(?<![A-Za-z0-9])"  # not in the middle of a longer run
_END = r"(?![A-Za-z0-9_-])"
_IS = r"""["'`*]*[ \t]*(?::=|=>|[:=](?!=))[ \t*]*"""


def _value(shortest: int, longest: int) -> str:
    """Match what is assigned: all of a quoted string, else a run without spaces or brackets."""
    quoted = rf"(?:(?!(?P=quote))[^\[\r\n]){{{shortest},{longest}}}"
    first = r"""[^\s"'`,;<>()\[\]{}|&=]"""
    more = rf"""[^\s"'`,;<>()\[\]{{}}|&]{{{shortest - 1},{longest}}}(?<![.:])"""
    return rf"""(?P<quote>["'`])?(?P<secret>(?(quote){quoted}|{first}{more}))"""


# The order counts: where two overlap, the first one names what was found.
RULES: tuple[Rule, ...] = (
    Rule(
        "private-key",
        ("private key",),
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:\\[rn]|\s)*"
        r"(?P<secret>[^\[]{32,20000}?(?=(?:\\[rn]|\s)*-----END )"
        r"|[A-Za-z0-9+/=]{24,}(?:(?:[\s\"'>|]|\\[rn])*[A-Za-z0-9+/=]{24,})*)",
        _holds_base64,
    ),
    Rule("age-key", ("age-secret-key-",), r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    Rule(
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        _NEW + r"(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})",
    ),
    Rule(
        "gitlab-token",
        ("glpat-", "glptt-", "gldt-", "glrt-", "glcbt-", "glft-", "glsoat-", "gloas-", "glagent-"),
        _NEW + r"gl(?:pat|ptt|dt|rt|cbt|ft|soat|oas|agent)-[A-Za-z0-9_.-]{20,}",
    ),
    Rule(
        "aws-access-key",
        ("akia", "asia", "abia", "acca"),
        _NEW + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}" + _END,
        _is_concrete,
    ),
    Rule(
        "aws-secret-key",
        ("secret",),
        r"(?i:aws_?secret_?(?:access_?)?key|secret_?access_?key)"
        + _IS
        + r"""["'`]?(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])""",
        _is_concrete,
    ),
    Rule("slack-token", ("xox", "xapp-"), _NEW + r"(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}"),
    Rule(
        "webhook",
        ("hooks.slack.com/", "/api/webhooks/", "webhook.office.com/"),
        r"(?:hooks\.slack\.com/(?:services|workflows|triggers)|discord(?:app)?\.com/api/webhooks"
        r"|webhook\.office\.com/webhookb2)/(?P<secret>[A-Za-z0-9@/_-]{24,})",
    ),
    Rule(
        "stripe-key",
        ("sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"),
        _NEW + r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})",
    ),
    Rule("anthropic-key", ("sk-ant-",), _NEW + r"sk-ant-[A-Za-z0-9_-]{20,}"),
    Rule(
        "openai-key",
        ("sk-",),
        _NEW + r"sk-(?:(?:proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{32,})",
        _is_token,
    ),
    Rule(
        "google-key",
        ("aiza", "gocspx-", "ya29."),
        _NEW + rf"(?:AIza[A-Za-z0-9_-]{{35}}{_END}|GOCSPX-[A-Za-z0-9_-]{{28}}"
        r"|ya29\.[A-Za-z0-9_.-]{20,})",
    ),
    Rule(
        "azure-key",
        ("accountkey=", "sharedaccesskey="),
        r"(?i:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{43,86}={1,2})",
    ),
    Rule("azure-signature", ("sig=",), r"[?&]sig=(?P<secret>[A-Za-z0-9%+/]{40,}(?:%3[Dd]|=))"),
    Rule("npm-token", ("npm_",), _NEW + r"npm_[A-Za-z0-9]{36}" + _END),
    Rule("pypi-token", ("pypi-",), _NEW + r"pypi-[A-Za-z0-9_-]{50,}"),
    Rule("rubygems-key", ("rubygems_",), _NEW + r"rubygems_[a-f0-9]{48}" + _END),
    Rule("docker-token", ("dckr_pat_",), _NEW + r"dckr_pat_[A-Za-z0-9_-]{20,}"),
    Rule("huggingface-token", ("hf_",), _NEW + r"hf_[A-Za-z0-9]{30,}" + _END),
    Rule("groq-key", ("gsk_",), _NEW + r"gsk_[A-Za-z0-9]{40,}" + _END),
    Rule("digitalocean-token", ("_v1_",), _NEW + r"do[opr]_v1_[a-f0-9]{64}" + _END),
    Rule("shopify-token", ("shp",), _NEW + r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}" + _END),
    Rule("sendgrid-key", ("sg.",), _NEW + r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,}"),
    Rule("twilio-key", ("sk",), _NEW + r"SK[0-9a-f]{32}" + _END),
    Rule("telegram-token", (":aa",), _NEW + r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}" + _END),
    Rule("databricks-token", ("dapi",), _NEW + r"dapi[a-f0-9]{32}(?:-[0-9])?" + _END),
    Rule("vault-token", ("hvs.", "hvb."), _NEW + r"hv[sb]\.[A-Za-z0-9_-]{24,}"),
    Rule(
        "service-token",
        ("lin_api_", "ntn_", "figd_", "glsa_", "sntrys_", "sbp_", "nfp_", "pscale_", "atatt3"),
        _NEW + r"(?:lin_api|ntn|figd|glsa|sntrys|sbp|nfp|pscale_(?:tkn|pw|oauth)|ATATT3[a-z]*)"
        r"[_x][A-Za-z0-9_=-]{32,}",
        _is_token,
    ),
    Rule(
        "jwt",
        ("eyj",),
        _NEW + r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
    ),
    Rule(
        "authorization",
        ("authorization", "bearer"),
        r"(?i:\bauthorization" + _IS + r"""["'`]?(?:basic|bearer|token|apikey)?|\bbearer)[ \t]+"""
        r"(?P<secret>[A-Za-z0-9._~+/-]{8,}=*)",
        _is_token,
    ),
    Rule(
        "url-password",
        ("://",),
        r"://[^\s/:@\"'`<>\[\]]{0,100}:(?P<secret>[^\s/@\"`<>\[\]{}]{1,200})@",
        _is_concrete,
    ),
    Rule(
        "password",
        ("password", "passwd", "pwd", "passphrase", "_pass"),
        r"(?i:password|passwd|pwd|passphrase|_pass)(?:"
        + _IS
        + r"|(?<=--password)[ \t]+)"
        # One without quotes ends before a space or bracket, and before the end of its sentence.
        + _value(6, 200),
        _is_password,
    ),
    Rule(
        "secret-value",
        ("secret", "token", "key", "credential"),
        r"(?i:secret|token|credentials?|secret_key_base"
        r"|(?:api|access|auth|private|secret|encryption|signing|master|service|account)[ _-]?key)"
        r"(?:" + _IS + r"|(?<=--token)[ \t]+|(?<=--api-key)[ \t]+)" + _value(12, 500),
        _is_token,
    ),
)


class Secret(NamedTuple):
    """Where a secret stands: ``text[start:end]``."""

    rule: str
    start: int
    end: int


def find(text: str) -> list[Secret]:
    """Return the secrets in `text` in their order, none overlapping another."""
    lowered = text.lower()
    taken = bytearray(len(text))
    found: list[Secret] = []
    for rule in RULES:
        # Most text is free of secrets, and the literal hints are far cheaper than the patterns.
        if not any(hint in lowered for hint in rule.hints):
            continue
        for start, end in _matches(rule, text):
            if taken.find(1, start, end) < 0:
                taken[start:end] = b"\1" * (end - start)
                found.append(Secret(rule.name, start, end))
    return sorted(found, key=lambda secret: secret.start)


def mask(text: str) -> tuple[str, tuple[str, ...]]:
    """Replace every secret by ``[masked:<rule>]``; also return the names of the rules that hit.

    Line ends outside a private key stay. Masking twice changes nothing more.
    """
    names: list[str] = []
    # Masking one secret can uncover another that was glued to it; each round leaves less to mask.
    while secrets := find(text):
        pieces = []
        last = 0
        for secret in secrets:
            pieces += [text[last : secret.start], f"[masked:{secret.rule}]"]
            last = secret.end
        text = "".join([*pieces, text[last:]])
        names += [secret.rule for secret in secrets]
    return text, tuple(dict.fromkeys(names))


def _matches(rule: Rule, text: str) -> Iterator[tuple[int, int]]:
    pattern = re.compile(rule.pattern)
    group = "secret" if "secret" in pattern.groupindex else 0
    for match in pattern.finditer(text):
        if rule.accept(match[group]):
            yield match.span(group)
