"""Work in the background: where it is done, and how fast."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.settings.addresses import host, redis
from recollect.settings.parsing import setting, switch, whole


@dataclass(frozen=True, kw_only=True)
class Working:
    worker: bool = setting(
        True, switch, "Embed in the background inside this process; 0 leaves it to `recollect worker` or to `flush`."
    )
    broker_url: str = setting(
        "",
        redis,
        "A Redis server through which processes wake the workers at once. Empty: workers look by themselves.",
        "CELERY_BROKER_URL",
        secret=True,
    )
    worker_processes: int = setting(1, whole(1, 128), "How many processes one Celery worker has.")
    worker_poll_s: int = setting(
        5, whole(1, 3600), "How often `recollect worker` looks for work of which nobody told it."
    )
    worker_round_minutes: int = setting(
        5, whole(1, 24 * 60), "How often `recollect worker` looks for sessions that went quiet or have unread turns."
    )
    worker_metrics_host: str = setting("127.0.0.1", host, "The address at which a worker shows its metrics.")
    worker_metrics_port: int = setting(0, whole(0, 65_535), "The port at which a worker shows its metrics. 0: nowhere.")
    embed_attempts: int = setting(
        8, whole(1, 1000), "How often a text that fails alone is tried before its embedding is given up."
    )
    embed_calls_per_minute: int = setting(
        0,
        whole(0, 1_000_000),
        "Calls a minute that all workers together make to an embedding provider. 0: no limit.",
    )
    roll_up_hours: int = setting(0, whole(0, 8760), "How often old memories of one matter are summed up. 0: never.")
