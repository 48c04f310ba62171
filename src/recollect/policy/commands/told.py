"""What is said back to an order, in the language it was given in. Each entry: English, Chinese."""

from __future__ import annotations

import re

from recollect.model import Refusal

SAYINGS: dict[str, tuple[str, str]] = {
    "ask_all": ("Here is what I remember ({count} in all):", "这是我记得的内容（共 {count} 条）："),
    "ask_about": ("Here is what I remember about {about}:", "关于{about}，我记得："),
    "ask_nothing": ("I remember nothing about that.", "关于这一点我什么都不记得。"),
    "ask_nothing_at_all": ("I remember nothing yet.", "我还什么都不记得。"),
    "forgot": (
        "Forgotten, for good: {count} in memory, {messages} in conversations.",
        "已永久忘记：记忆 {count} 条，对话消息 {messages} 条。",
    ),
    "forgot_all": (
        "Everything in memory is forgotten, for good ({count}). Conversations are still there.",
        "记忆已全部永久清除（{count} 条）。对话记录仍然保留。",
    ),
    "forget_which": (
        "That could be any of these. Forgetting is for good: say which numbers, or yes for all of them.",
        "可能是以下内容。忘记后无法恢复：请说编号，或者说“是”全部忘记。",
    ),
    "forget_sure": ("Forgetting is for good. Shall I forget this?", "忘记后无法恢复。确定要忘记吗？"),
    "forget_sure_all": (
        "This forgets everything in memory ({count}), for good. Are you sure?",
        "这会永久忘记全部记忆（{count} 条）。确定吗？",
    ),
    "forget_nothing": ("There is nothing here to forget.", "这里没有可以忘记的内容。"),
    "kept": ("All right, nothing was forgotten.", "好的，没有忘记任何内容。"),
    "pinned": ("Pinned. It will stay. Say “undo” to take the pin off.", "已置顶，会一直保留。说“撤销”可以取消。"),
    "unpinned": ("The pin is off. Say “undo” to put it back.", "已取消置顶。说“撤销”可以恢复。"),
    "pin_nothing": ("There is nothing here to pin.", "这里没有可以置顶的内容。"),
    "remembered": (
        "Noted, I will remember that. Say “undo” to have it forgotten.",
        "好的，我记住了。说“撤销”可以忘掉。",
    ),
    "known": ("I knew that already, and will hold on to it.", "这个我已经记得了，会继续保留。"),
    "replaced": ("Noted. It replaces what I remembered before: “{old}”.", "好的，已替换之前的内容：“{old}”。"),
    "memory_off": (
        "Memory is off: from now on nothing is remembered or recalled here. Say “turn memory on” to change that.",
        "记忆已关闭：从现在起不会记住或回忆任何内容。说“打开记忆”可以恢复。",
    ),
    "memory_on": ("Memory is on again. Say “turn memory off” to change that.", "记忆已打开。说“关闭记忆”可以关掉。"),
    "incognito_start": (
        "This chat is incognito now: nothing of it is kept, and nothing remembered is used. Say “stop incognito” to end it.",
        "这次对话现在是无痕模式：不会保留任何内容，也不会使用记忆。说“结束无痕模式”可以退出。",
    ),
    "incognito_end": ("Incognito is over: this chat is remembered again.", "无痕模式已结束：这次对话会重新被记住。"),
    "because": ("Because of this:", "依据是："),
    "no_reason": ("What I said last did not come from memory.", "刚才说的内容不是来自记忆。"),
    "from_talk": (" — in the conversation “{title}”", "——来自对话“{title}”"),
    "undone": ("Undone.", "已撤销。"),
    "not_undone": ("What is forgotten is gone for good; that can't be undone.", "已忘记的内容无法恢复。"),
    "not_allowed": ("That can't be done here: {why}.", "这里无法这样做：{why}。"),
}
REFUSALS: dict[Refusal, tuple[str, str]] = {
    "tombstone": ("it was forgotten lately and doesn't come back that soon", "刚刚被忘记，暂时不能重新记住"),
    "memory_off": ("memory is switched off", "记忆已关闭"),
    "incognito": ("this chat is incognito", "当前是无痕模式"),
    "read_only": ("this memory is read-only", "记忆是只读的"),
    "secret": ("it holds a secret such as a password, and secrets are not kept", "其中含有密码等秘密，不会保存"),
    "duplicate_id": ("its id is in use", "编号已被使用"),
}


def say(name: str, chinese: bool, **values: object) -> str:
    return SAYINGS[name][chinese].format(**values)


def refused(reason: Refusal | None, chinese: bool) -> str:
    return say("not_allowed", chinese, why=REFUSALS[reason or "read_only"][chinese])


_TURNED = {"my": "your", "me": "you", "mine": "yours", "myself": "yourself", "i": "you", "our": "your", "us": "you"}
_MINE = re.compile(rf"\b(?:{'|'.join(_TURNED)})\b", re.IGNORECASE)


def turned(about: str) -> str:
    """What somebody calls their own, as it is said back to them: "my dog" is "your dog"."""
    return _MINE.sub(lambda said: _TURNED[said[0].lower()], about).replace("我", "你")
