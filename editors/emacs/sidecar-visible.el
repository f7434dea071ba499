;;; sidecar-visible.el --- Texts of others as people can see them  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; What a model, a file or another session says may hold characters that are not
;; seen, or change how others are seen: they are written out.

;;; Code:

(require 'subr-x)

(defconst sidecar-visible--hidden
  (rx (any (0 . 8) (11 . 31) (127 . 159) #xad #x34f #x61c #x115f #x1160 #x17b4 #x17b5
           (#x180b . #x180f) (#x200b . #x200f) (#x2028 . #x202e) (#x2060 . #x206f)
           #x2800 #x3164 (#xfe00 . #xfe0f) #xfeff #xffa0 (#xfff0 . #xfffb)
           (#x1bca0 . #x1bca3) (#x1d173 . #x1d17a) (#xe0000 . #xe0fff)))
  "Characters that are not seen, or change how others are seen.")

(defun sidecar-visible (text)
  "Give TEXT with what cannot be seen written out; lines and tabs stay."
  (replace-regexp-in-string sidecar-visible--hidden
                            (lambda (hidden) (format "\\u{%x}" (aref hidden 0)))
                            text t t))

(defun sidecar-visible-line (text)
  "Give TEXT on one line, with what cannot be seen written out."
  (string-replace "\n" "\\n" (sidecar-visible text)))

(provide 'sidecar-visible)
;;; sidecar-visible.el ends here
