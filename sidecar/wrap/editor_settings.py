"""An editor's settings for a wrapped agent. Pure."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from sidecar.core.errors import BadRequest

_Written: TypeAlias = Callable[[str, str, list[str]], str]
_PROGRAMS_THAT_RUN_OTHERS = ("npx", "bunx", "uvx", "pnpm", "node", "python", "python3", "env")


def settings_for(editor: str, sidecar: str, command: Sequence[str]) -> str:
    """A text to put into the editor's settings. Raises BadRequest for an unknown editor.

    `sidecar` is the program that wraps.
    """
    written = EDITORS.get(editor)
    if written is None:
        known = ", ".join(EDITORS)
        raise BadRequest(f"there are no settings for {editor!r}: give one of {known}")
    return written(name_of(command), sidecar, ["wrap", "--", *command])


def name_of(command: Sequence[str]) -> str:
    """An agent's name: its program, or the package that another program runs."""
    plain = [word for word in command if not word.startswith("-")]
    runs = _last(plain[0]) if plain else ""
    word = plain[1] if runs in _PROGRAMS_THAT_RUN_OTHERS and plain[1:] else runs
    return f"{_last(word).partition('@')[0] or 'agent'} (Sidecar)"


def _last(word: str) -> str:
    return word.replace("\\", "/").rpartition("/")[2]


def _agent_servers(name: str, sidecar: str, arguments: list[str]) -> str:
    server = {"type": "custom", "command": sidecar, "args": arguments, "env": {}}
    return _json({"agent_servers": {name: server}})


def _jetbrains(name: str, sidecar: str, arguments: list[str]) -> str:
    server = {"command": sidecar, "args": arguments, "env": {}}
    return _json({"agent_servers": {name: server}})


def _vs_code(name: str, sidecar: str, arguments: list[str]) -> str:
    return _json({"acp.agents": {name: {"command": sidecar, "args": arguments}}})


def _codecompanion(name: str, sidecar: str, arguments: list[str]) -> str:
    words = ", ".join(map(_lua, (sidecar, *arguments)))
    return f"""\
require("codecompanion").setup({{
  adapters = {{
    acp = {{
      wrapped = function()
        return require("codecompanion.adapters").extend("goose", {{
          name = "wrapped",
          formatted_name = {_lua(name)},
          commands = {{ default = {{ {words} }} }},
        }})
      end,
    }},
  }},
  interactions = {{ chat = {{ adapter = "wrapped" }} }},
}})
"""


def _avante(name: str, sidecar: str, arguments: list[str]) -> str:
    words = ", ".join(map(_lua, arguments))
    return f"""\
require("avante").setup({{
  provider = {_lua(name)},
  acp_providers = {{
    [{_lua(name)}] = {{
      command = {_lua(sidecar)},
      args = {{ {words} }},
    }},
  }},
}})
"""


def _agent_shell(name: str, sidecar: str, arguments: list[str]) -> str:
    words = " ".join(map(_lisp, arguments))
    return f"""\
(with-eval-after-load 'agent-shell
  (add-to-list
   'agent-shell-agent-configs
   (agent-shell-make-agent-config
    :identifier 'sidecar-wrapped
    :mode-line-name {_lisp(name)}
    :buffer-name {_lisp(name)}
    :shell-prompt "> "
    :shell-prompt-regexp "> "
    :client-maker (lambda (buffer)
                    (acp-make-client :command {_lisp(sidecar)}
                                     :command-params '({words})
                                     :context-buffer buffer)))))
"""


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _lua(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _lisp(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


EDITORS: Mapping[str, _Written] = {
    "zed": _agent_servers,
    "jetbrains": _jetbrains,
    "codecompanion": _codecompanion,
    "avante": _avante,
    "agent-shell": _agent_shell,
    "vscode": _vs_code,
}
