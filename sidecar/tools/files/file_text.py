"""A file's text, in the editor where possible, else on disk."""

import asyncio
import os
from pathlib import Path
from typing import Literal, TypeAlias

from sidecar.core.errors import BadRequest, Cancelled, SidecarError
from sidecar.tools.inputs import is_unicode
from sidecar.tools.tool_contract import ToolContext
from sidecar.workspace import files
from sidecar.workspace.paths import Place

Written: TypeAlias = Literal["editor", "disk"]


async def editor_text(real: Path, context: ToolContext) -> str | None:
    buffer = context.buffers.get(real)
    if buffer is not None:
        return buffer.text
    if context.client is None or not context.client.can_read_files:
        return None
    # The editor is asked for text files only; others might come back garbled.
    on_disk = await asyncio.to_thread(files.read_text, real)
    try:
        return await context.client.read_text_file(context.session_id, str(real))
    except Cancelled:
        raise
    except SidecarError:
        return on_disk


async def current_text(real: Path, context: ToolContext) -> str:
    """Raises BadRequest for no text or too much, OSError."""
    held = await editor_text(real, context)
    return held if held is not None else await asyncio.to_thread(files.read_text, real)


async def text_now(real: Path, context: ToolContext) -> str | None:
    """Returns `None` for no file. Raises BadRequest for one without text, OSError."""
    if not await asyncio.to_thread(_exists, real):
        return None
    return await current_text(real, context)


async def change_text(
    place: Place, before: str | None, after: str, label: str, context: ToolContext
) -> Written:
    """Writes through the editor's undo history where possible.

    Raises BadRequest if the path now leads elsewhere, or the text is no longer `before`, as the
    user saved it meanwhile, or OSError; then the file is unchanged.
    """
    real = place.real
    if await asyncio.to_thread(os.path.realpath, real) != str(real):
        raise BadRequest(f"{place.shown} moved meanwhile. Try again.", "input.path")
    async with context.changes.editing(real, after):
        if await text_now(real, context) != before:
            text = f"{place.shown} was changed meanwhile, so nothing was written. Read it again."
            raise BadRequest(text, "input.path")
        return await _written(real, after, label, context)


def _exists(real: Path) -> bool:
    if real.is_dir():
        raise IsADirectoryError(21, "is a folder", str(real))
    return real.exists()


async def _written(real: Path, after: str, label: str, context: ToolContext) -> Written:
    buffer = context.buffers.get(real)
    written: Written = "editor"
    editor = buffer.owner if buffer is not None else None
    if buffer is not None and editor is not None and editor.can_apply_edits and is_unicode(after):
        saved = await _on_disk(real) == buffer.text
        if await editor.apply_edit(label, str(real), after):
            context.buffers.set(real, after, buffer.version, buffer.owner)
            # A document without unsaved changes stays so, since later commands read the disk. An
            # editor that saved by itself would take another write for a stranger's change.
            if saved and await _on_disk(real) != after:
                await asyncio.to_thread(files.write_atomically, real, after)
            return written
    writer = editor if editor is not None and editor.can_write_files else context.client
    if writer is not None and writer.can_write_files and is_unicode(after):
        await writer.write_text_file(context.session_id, str(real), after)
    else:
        written = "disk"
        await asyncio.to_thread(files.write_atomically, real, after)
    if buffer is not None:
        # Until the editor says so itself, the next call must not see the old text.
        context.buffers.set(real, after, buffer.version, buffer.owner)
    return written


async def _on_disk(real: Path) -> str | None:
    try:
        return await asyncio.to_thread(files.read_text, real)
    except (OSError, SidecarError):
        return None
