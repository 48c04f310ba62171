"""The data chat: who answers, what is remembered of it, and what somebody may use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from recollect.settings.addresses import collection, data_address, web
from recollect.settings.parsing import one_of, setting, switch, text, whole

AnswererName = Literal["auto", "sql", "denodo", "rules", "off"]
VectorStoreName = Literal["store", "pgvector", "sqlite", "chroma", "opensearch"]
PermissionSource = Literal["off", "claims", "file", "denodo"]


@dataclass(frozen=True, kw_only=True)
class DataChat:
    answerer: AnswererName = setting(
        "auto",
        one_of(AnswererName),
        "Who answers questions over data. `auto`: Denodo where it is named, else SQL where a database is: by the chat "
        "model, or without one by rules.",
    )
    data_url: str = setting(
        "", data_address, "The database that is asked, as SQLAlchemy writes it, or `sample`.", secret=True
    )
    data_tables: str = setting(
        "", text, "The only tables that may be asked, with commas between. Empty: all there are."
    )
    data_rows: int = setting(100, whole(1, 100_000), "The most rows an answer has.")
    data_timeout_s: int = setting(10, whole(1, 3600), "How long a query over the data may take.")
    denodo_url: str = setting("", web, "The Denodo AI SDK that is asked.")
    denodo_timeout_s: int = setting(120, whole(1, 3600), "How long an answer of Denodo's may take.")
    denodo_verify: bool = setting(True, switch, "Whether Denodo's certificates are checked.")
    data_memory: bool = setting(
        True, switch, "Whether questions over data have a memory. 0: they are only passed on.", "MEMORY_ENABLED"
    )
    memory_rollout: int = setting(
        100, whole(0, 100), "The share of users, of a hundred, whose questions over data have a memory."
    )
    max_history_messages: int = setting(
        10, whole(0, 200), "Earlier questions of a data conversation that are shown.", "MEMORY_MAX_HISTORY_MESSAGES"
    )
    semantic_search_k: int = setting(
        3, whole(0, 50), "Similar questions over data that are shown.", "MEMORY_SEMANTIC_SEARCH_K"
    )
    max_context_tokens: int = setting(
        4000,
        whole(100, 1_000_000),
        "The most tokens of a question over data with its context.",
        "MEMORY_MAX_CONTEXT_TOKENS",
    )
    vector_store: VectorStoreName = setting(
        "store",
        one_of(VectorStoreName),
        "Where the vectors of questions over data are searched. `store`: where everything is (`pgvector` and `sqlite` name it); "
        "`chroma` and `opensearch` (experimental) get copies.",
        "MEMORY_VECTOR_STORE",
    )
    vector_collection: str = setting(
        "ai_sdk_conversation_memory",
        collection,
        "chroma, opensearch: what the collection or the indexes are called.",
        "MEMORY_VECTOR_COLLECTION_NAME",
    )
    vector_url: str = setting(
        "",
        web,
        "chroma, opensearch: the server's address. Empty: Chroma in a folder of the data directory.",
        secret=True,
    )
    summarization_enabled: bool = setting(
        True, switch, "Whether long conversations are summed up.", "MEMORY_SUMMARIZATION_ENABLED"
    )
    summarization_threshold: int = setting(
        15,
        whole(1, 10_000),
        "Messages (questions, in the data chat) after which one is.",
        "MEMORY_SUMMARIZATION_THRESHOLD",
    )
    summarization_model: str = setting(
        "",
        text,
        "The model at the chat endpoint that sums up. Empty: the chat model; without an endpoint sentences are quoted.",
        "MEMORY_SUMMARIZATION_MODEL",
    )
    stored_result_rows: int = setting(20, whole(0, 10_000), "The most rows of a result that are kept.")
    allow_data_export: bool = setting(
        True, switch, "Whether people may take their data conversations along.", "MEMORY_ALLOW_DATA_EXPORT"
    )
    allow_data_deletion: bool = setting(
        True, switch, "Whether people may delete their data conversations.", "MEMORY_ALLOW_DATA_DELETION"
    )
    archive_url: str = setting(
        "",
        text,
        "Where data conversations are put away at their end: a folder, or an address such as s3://… Empty: nowhere.",
        secret=True,
    )
    data_permissions: PermissionSource = setting(
        "off",
        one_of(PermissionSource),
        "Who says which databases and tables somebody may use now: their token's `claims`, a `file`, `denodo`'s data catalog. "
        "`off`: everybody all that the answerer reaches.",
    )
    databases_claim: str = setting("", text, "claims: the claim that lists databases. Empty: not limited.")
    tables_claim: str = setting("", text, "claims: the claim that lists tables. Empty: not limited.")
    permissions_file: str = setting("", text, "file: the JSON or TOML file of users and roles.")
    denodo_catalog_url: str = setting("", web, "denodo: the data catalog's address.")
    denodo_server_id: int = setting(1, whole(0, 1_000_000), "denodo: the number of the server in the data catalog.")
    denodo_databases: str = setting("", text, "denodo: the databases to ask about, with commas between.")
    langfuse_host: str = setting("", web, "Where traces of questions over data are sent.", "LANGFUSE_HOST")
    langfuse_public_key: str = setting("", text, "Langfuse's public key.", "LANGFUSE_PUBLIC_KEY")
    langfuse_secret_key: str = setting("", text, "Langfuse's secret key.", "LANGFUSE_SECRET_KEY", secret=True)
    trace_content: bool = setting(False, switch, "Whether traces hold what was asked and answered.")

    @property
    def asks_data(self) -> bool:
        """Whether anybody is named who would work for the data chat."""
        named = (self.data_url, self.denodo_url, self.archive_url, self.langfuse_host)
        return any(named) or self.data_permissions != "off" or self.answerer not in ("auto", "off")
