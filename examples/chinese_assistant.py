"""一个会记事的中文助手：记住、回想、更正、忘记。 A Chinese assistant that remembers, corrects itself and forgets.

    python -m examples.chinese_assistant

No chat model is needed: without one (`RECOLLECT_CHAT_URL`) it answers by quoting what it was told, with dates. Chinese is found
by its words and by its meaning, and orders are given in plain words.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from recollect import Memory

LAST_WEEK = datetime.now(UTC) - timedelta(days=7)


def main() -> None:
    with Memory("memory://", user="小明") as memory:
        # 上周的一次聊天，原话保留；说话人讲到自己的，单独记下来。
        turns = [
            {"role": "user", "content": "我对花生过敏。我妈妈的生日是三月五号。", "created_at": LAST_WEEK},
            {"role": "assistant", "content": "记下了。", "created_at": LAST_WEEK},
        ]
        taken = memory.take_in("上周", turns)
        print("记住了：", "；".join(item.content for each in taken.extractions for item in each.analysis.items))

        for said in (
            "记住，我妈妈的生日是五月三号",
            "我妈妈的生日是哪天？",
            "我对什么过敏？",
            "记住，我周五去看牙医",
            "忘掉这个",
            "你都记得些什么？",
        ):
            print(f"\n小明：{said}\n助手：", end="")
            for piece in memory.chat(said, session_id="今天").words():
                print(piece, end="")
            print()


if __name__ == "__main__":
    main()
