"""Secrets are found where they are told, nothing else is taken for one, and no text takes long."""

from __future__ import annotations

import string
import time
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.policy.secrets import MARKERS, findings, is_secret_name, masked

# Put together from pieces, so that nobody who scans this file for secrets finds one.
RANDOM = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7d"
PEM = (
    "-----BEGIN "
    + "RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA"
    + RANDOM
    + "\n"
    + RANDOM
    + "==\n-----END "
    + "RSA PRIVATE KEY-----"
)
JWT = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0" + ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
AWS = "AKIA" + "IOSFODNN7EXAMPLE"

KEYS = [
    "sk-" + RANDOM,
    "sk-proj-" + RANDOM,
    "sk-ant-api03-" + RANDOM,
    AWS,
    "ghp_" + RANDOM[:36],
    "github_pat_" + RANDOM,
    "xoxb-" + "123456789012-abcdefABCDEF1234",
    "AIza" + RANDOM[:35],
    "sk_live_" + RANDOM[:24],
    "rk_" + RANDOM[:32],
    "SG." + RANDOM[:22] + "." + RANDOM + "abc",
]

TOLD = [
    ("password", "my password is hunter2", "hunter2"),
    ("password", "My Netflix password is Tr0ub4dor&3, please remember it", "Tr0ub4dor&3"),
    ("password", "The password for the office router is Blue-42-Horse.", "Blue-42-Horse"),
    ("password", "password: swordfish\nuser: ana", "swordfish"),
    ("password", "Passwort: geheim99", "geheim99"),
    ("password", 'config = {"password": "p4ss w0rd"}', "p4ss w0rd"),
    ("password", "DB_PASSWORD=s3cr3t!x", "s3cr3t!x"),
    ("password", "Server=db;Uid=ana;Pwd=Qwe123!;", "Qwe123!"),
    ("password", "my password is swordfish", "swordfish"),
    ("password", 'the wifi password is "blue horse"', "blue horse"),
    ("password", "My password was changed to Winter2024", "Winter2024"),
    ("password", "我的密码是abc12345，别忘了", "abc12345"),
    ("password", "WiFi密码：88886666", "88886666"),
    ("password", "银行卡密码改成了吗？新密码改成 Qx9912", "Qx9912"),
    ("password", "postgresql://ana:s3cr3t9@db.local/shop", "s3cr3t9"),
    ("password", "My gmail password is 'correct horse battery staple'", "correct horse battery staple"),
    ("password", "passphrase: correct horse battery staple", "correct horse battery staple"),
    ("password", "助记词：apple river stone cloud tiger", "apple river stone cloud tiger"),
    ("password", "I changed my password to Fluffy#2019", "Fluffy#2019"),
    ("password", "use the password hunter2 to log in", "hunter2"),
    ("password", "backup --password hunter2x --fast", "hunter2x"),
    ("password", "my pw is hunter2", "hunter2"),
    ("password", "curl -u ana:hunter2 https://x.example", "hunter2"),
    ("password", "密码已经改成了hunter99", "hunter99"),
    ("pin", "PIN: 4821", "4821"),
    ("pin", "PIN码是4821", "4821"),
    ("pin", "exp 12/27, CVV: 123", "123"),
    (
        "api_key",
        "AWS secret access key: wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKEY",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKEY",
    ),
    ("pin", "my bank pin is 4821", "4821"),
    ("pin", "The PIN for the gate is 9917", "9917"),
    ("one_time_code", "Your verification code is 482193", "482193"),
    ("one_time_code", "482193 is your Acme verification code", "482193"),
    ("one_time_code", "【银行】验证码：482193，请勿告诉他人", "482193"),
    ("card", "Visa 4111 1111 1111 1111 exp 12/27", "4111 1111 1111 1111"),
    ("card", "4111-1111-1111-1111", "4111-1111-1111-1111"),
    ("card", "卡号5500005555555559。", "5500005555555559"),
    ("card", "amex 3782 822463 10005", "3782 822463 10005"),
    ("card", "4111 1111 1111 1111 12 27 123", "4111 1111 1111 1111"),
    ("api_key", f"api_key = '{RANDOM[:32]}'", RANDOM[:32]),
    ("api_key", f"AZURE_OPENAI_API_KEY={RANDOM[:32].lower()}", RANDOM[:32].lower()),
    ("api_key", f"my access token is {RANDOM[:24]}.", RANDOM[:24]),
    ("api_key", f"密钥：{RANDOM[:32]}", RANDOM[:32]),
    ("api_key", f"DefaultEndpointsProtocol=https;AccountKey={RANDOM}==;", RANDOM + "=="),
    ("token", f"Authorization: Bearer {RANDOM}", RANDOM),
    ("token", f"token in the log: {JWT} end", JWT),
    ("private_key", f"here:\n{PEM}\nthanks", PEM),
]

HARMLESS = [
    "I forgot my password again",
    "My password is too weak, what should I do?",
    "The password is stored in a vault.",
    "password: must contain at least 8 characters",
    "Password: required",
    "your password is incorrect",
    "Use a strong password. A password is important.",
    "password = os.environ['DB_PASSWORD']",
    "password=password, user=user",
    "def login(username: str, password: str) -> None:",
    "connect(password=get_password())",
    "hashed_password = argon2.hash_password(password)",
    "login(username='ana', password='testpassword')",
    "postgresql://user:password@localhost/db",
    "password: ********",
    "hash the password with SHA256 or argon2id, never the password base64 encoded",
    "fields: password password2",
    "the password to your account, the password as told, password reset 24h",
    'password: "must be at least eight characters long"',
    "a passphrase is something that you should remember well",
    "our recovery words are kept with the bank and with our lawyer",
    "pass: 95%, fail: 5%",
    "python -u main.py: runs unbuffered",
    "password: <your password>",
    "api_key = 'YOUR_API_KEY_HERE'",
    "export OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx",
    "api_key: os.getenv('API_KEY')",
    "the primary key is user_account_identifier_v2",
    "the token is valid-until-tomorrow-morning-2",
    "Pin the memory: PIN code 110001 Delhi",
    "task-management-is-a-risk-of-its-own-kind-2024",
    "order 4111111111111112 was shipped",
    "pi is 3.14159265358979323846",
    "0.4111111111111111",
    "id a4111111111111111b",
    "41111111111111114111111111111111",
    "call +49 30 1234 5678 or 0171 2345 6789",
    "10 20 30 40 50 60 70 80",
    "我忘了密码怎么办",
    "密码是什么？",
    "密码是多少位的",
    "支付宝的密码在哪里改",
    "The code is 1234 lines long",
    "Confirmation code: XK4921",
    "in 2024 is your best year",
    "-----BEGIN " + "PRIVATE KEY----- is how such a file starts",
    "The secret is to use fresh ingredients.",
    "the key is communication",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "http://example.com:8080/@user",
]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("around", ["{}", "use {} for it", "钥匙{}。", 'KEY="{}"\n'])
def test_issued_keys_go(key: str, around: str) -> None:
    text, kinds = masked(around.format(key))
    assert text == around.format(MARKERS["api_key"])
    assert kinds == ("api_key",)


@pytest.mark.parametrize(("kind", "text", "secret"), TOLD)
def test_what_is_told_as_a_secret_goes_and_nothing_else(kind: str, text: str, secret: str) -> None:
    without, kinds = masked(text)
    assert without == text.replace(secret, MARKERS[kind])
    assert kinds == (kind,)


@pytest.mark.parametrize("text", HARMLESS)
def test_talk_about_secrets_stays(text: str) -> None:
    assert masked(text) == (text, ())


def test_the_second_half_of_a_pair_goes_with_the_first() -> None:
    secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzKEY9"
    assert secret not in masked(f"{AWS} and {secret}")[0]
    assert masked(f"the digest {secret}")[1] == ()


def test_a_private_key_that_was_cut_off_goes_as_far_as_it_goes() -> None:
    cut = PEM[: PEM.index("-----END")].rstrip()
    assert masked(f"{cut}\nand then it broke off") == (
        f"{MARKERS['private_key']}\nand then it broke off",
        ("private_key",),
    )


@pytest.mark.parametrize(
    "name", ["password", "wifi_password", "apiKey", "api_key", "支付密码", "db.pwd", "client-secret"]
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["password_policy", "key", "keyboard", "favourite token ring", "pinned", "密码学"])
def test_other_names(name: str) -> None:
    assert not is_secret_name(name)


PIECES = st.sampled_from(
    [
        *(text for _, text, _ in TOLD),
        *KEYS,
        *MARKERS.values(),
        *(
            "password",
            "password is ",
            "密码是",
            "pwd=",
            "://a:",
            "@",
            "4111 1111 1111 1111",
            " ",
            "\n",
            ":",
            "[",
            "]",
            "-",
            ".",
        ),
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=6) | st.text(string.printable, max_size=8), max_size=12).map("".join)


@given(TEXTS)
@example("my password is hunter2 is hunter3")
def test_masking_again_changes_nothing(text: str) -> None:
    once, _ = masked(text)
    assert masked(once) == (once, ())


@given(TEXTS)
def test_what_is_not_found_stays_to_the_letter(text: str) -> None:
    found = findings(text)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all(0 <= each.start < each.end <= len(text) for each in found)
    if not found:
        assert masked(text) == (text, ())


ENDLESS = [
    "sk-",
    "eyJ",
    "eyJabcdefghij.",
    "-----BEGIN " + "PRIVATE KEY-----",
    "-----BEGIN " + "PRIVATE KEY-----\nABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "password is ",
    "password for ",
    "password:",
    "password: a ",
    'password: "',
    "密码是",
    "密码abc",
    "://a:",
    "://a:b@",
    "api key is ",
    "secret: a-b-",
    "bearer a1",
    "my pin is 1",
    "my pin for my pin for ",
    "password a1b2c3 ",
    "passphrase: a ",
    "passphrase: abc def ",
    "pw: a1 ",
    " -u a:",
    "cvv ",
    "1",
    "1 ",
    "4111 ",
    "1-",
    "verification code is ",
    "1234 is your a b ",
    "a",
    " ",
    "AKIA" + "A" * 16 + " ",
    "key=",
    "A1b2C3d4" * 64 + "key: ",
]


@pytest.mark.parametrize("piece", ENDLESS)
def test_a_megabyte_of_anything_takes_no_time_to_speak_of(piece: str) -> None:
    text = (piece * (1024 * 1024 // len(piece) + 1))[: 1024 * 1024]
    before = time.process_time()
    findings(text)
    small = time.process_time() - before
    assert small < 5.0, f"{small:.2f} s"
