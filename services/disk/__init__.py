"""Files: threads of their own for what may never answer, blocks that one has to itself, and files that are whole."""

from services.disk.locked import locked
from services.disk.threads import DISK_S, DiskThreads, on_disk
from services.disk.whole import OWNERS, beside, sync_folder, write_whole

__all__ = ["DISK_S", "OWNERS", "DiskThreads", "beside", "locked", "on_disk", "sync_folder", "write_whole"]
