;;; sidecar-menu.el --- All of Sidecar's commands at a key  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A transient menu; `sidecar-menu' loads it.

;;; Code:

(require 'sidecar)
(require 'transient)

;;;###autoload (autoload 'sidecar-menu "sidecar-menu" nil t)
(transient-define-prefix sidecar-menu ()
  "Do something in the session of this project."
  [["Turn"
    ("c" "chat" sidecar-chat)
    ("s" "say something" sidecar-send)
    ("a" "answer a question" sidecar-answer)
    ("k" "stop" sidecar-cancel)
    ("w" "copy what is here" sidecar-copy)
    ("r" "go back" sidecar-rollback)
    ("R" "go forth again" sidecar-redo)
    ("v" "review a turn's changes" sidecar-review)]
   ["Context"
    ("x" "what fills it" sidecar-context)
    ("l" "compact" sidecar-compact)
    ("u" "undo a compaction" sidecar-undo-compaction)
    ("p" "pin the piece here" sidecar-pin)
    ("P" "unpin the piece here" sidecar-unpin)
    ("Y" "let what is here go along again" sidecar-recall)
    ("m" "model" sidecar-switch-model)
    ("y" "policy" sidecar-switch-policy)]
   ["Session"
    ("n" "new" sidecar-new)
    ("f" "fork" sidecar-fork)
    ("h" "hand off" sidecar-handoff)
    ("e" "export" sidecar-export)
    ("i" "import" sidecar-import)
    ("S" "sync" sidecar-sync)
    ("O" "open from another machine" sidecar-open-from-elsewhere)
    ("o" "open another" sidecar-sessions)
    ("/" "search them" sidecar-search)
    ("t" "rename" sidecar-rename)
    ("A" "archive" sidecar-archive)
    ("L" "log" sidecar-log)]])

(provide 'sidecar-menu)
;;; sidecar-menu.el ends here
