"""The domain, frozen and typed: what is remembered, for whom, and what is said about it. Knows nothing of storage or doors."""

from recollect.model.access import ROLES, ApiKey, Role
from recollect.model.analysis import Analysis, Category, Emotion, Extraction, Item, TakenIn
from recollect.model.chat import Completion, Piece, Usage, Utterance
from recollect.model.conversation import Conversation, Message, Turn, WorkingMemory
from recollect.model.datachat import (
    AskData,
    ContextUsed,
    DataAccess,
    DataAnswer,
    DataQuestion,
    DataReply,
    Exchange,
    Talked,
)
from recollect.model.embedding import (
    KINDS,
    Backlog,
    EmbeddingJob,
    EmbeddingState,
    EmbeddingStatus,
    Generation,
    GenerationState,
    Kind,
    ProviderConfig,
    Target,
)
from recollect.model.entry import Change, Changes, Entry, Found
from recollect.model.health import CONCERNS, Concern, Finding, Health
from recollect.model.link import Flag, Repeat, Use
from recollect.model.memory import Draft, Memory, MemoryType, Patch, Scores, Source, Status
from recollect.model.occasion import Occasion
from recollect.model.operations import Look
from recollect.model.provenance import Provenance
from recollect.model.query import Filter, Hit, Listing, Page, Query, Recall, Trace
from recollect.model.receipt import ForgetReceipt, ImportReceipt, Outcome, Receipt, Refusal, TurnsReceipt
from recollect.model.scope import MAX_ID_CHARS, Scope, checked_id
from recollect.model.space import AuditEvent, Declaration, SpaceSettings, Theme, Tombstone
from recollect.model.upkeep import Action, Plan, Step, Upkeep

__all__ = [
    "CONCERNS",
    "KINDS",
    "MAX_ID_CHARS",
    "ROLES",
    "Action",
    "Analysis",
    "ApiKey",
    "AskData",
    "AuditEvent",
    "Backlog",
    "Category",
    "Change",
    "Changes",
    "Completion",
    "Concern",
    "ContextUsed",
    "Conversation",
    "DataAccess",
    "DataAnswer",
    "DataQuestion",
    "DataReply",
    "Declaration",
    "Draft",
    "EmbeddingJob",
    "EmbeddingState",
    "EmbeddingStatus",
    "Emotion",
    "Entry",
    "Exchange",
    "Extraction",
    "Filter",
    "Finding",
    "Flag",
    "ForgetReceipt",
    "Found",
    "Generation",
    "GenerationState",
    "Health",
    "Hit",
    "ImportReceipt",
    "Item",
    "Kind",
    "Listing",
    "Look",
    "Memory",
    "MemoryType",
    "Message",
    "Occasion",
    "Outcome",
    "Page",
    "Patch",
    "Piece",
    "Plan",
    "Provenance",
    "ProviderConfig",
    "Query",
    "Recall",
    "Receipt",
    "Refusal",
    "Repeat",
    "Role",
    "Scope",
    "Scores",
    "Source",
    "SpaceSettings",
    "Status",
    "Step",
    "TakenIn",
    "Talked",
    "Target",
    "Theme",
    "Tombstone",
    "Trace",
    "Turn",
    "TurnsReceipt",
    "Upkeep",
    "Usage",
    "Use",
    "Utterance",
    "WorkingMemory",
    "checked_id",
]
