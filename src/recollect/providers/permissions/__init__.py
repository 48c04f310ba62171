"""Those who know what somebody may use at this moment: their token, a file, or Denodo's data catalog."""

from recollect.providers.permissions.claims import ClaimPermissions
from recollect.providers.permissions.denodo import DenodoPermissions
from recollect.providers.permissions.file import FilePermissions

__all__ = ["ClaimPermissions", "DenodoPermissions", "FilePermissions"]
