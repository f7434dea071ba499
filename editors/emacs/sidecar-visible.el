;;; sidecar-visible.el --- Texts of others as people can see them  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; What a model, a file or another session says may hold characters that are not
;; seen, or change how others are seen: they are written out.

;;; Code:

(require 'subr-x)
(require 'sidecar-desk)

(defvar diff-remembered-defdir)
(defvar diff-remembered-files-alist)

(defconst sidecar-visible--hidden
  (rx (any (0 . 8) (11 . 31) (127 . 160) #xad #x34f #x61c #x70f #x115f #x1160 #x1680 #x17b4 #x17b5
           (#x180b . #x180f) (#x2000 . #x200f) (#x2028 . #x202f) (#x205f . #x206f)
           #x2800 #x3000 #x3164 (#xfe00 . #xfe0f) #xfeff #xffa0 (#xfff0 . #xfffc)
           #x133fc (#x13430 . #x13455) #x16fe4 (#x1bca0 . #x1bca3) #x1d159
           (#x1d173 . #x1d17a) (#xe0000 . #xe0fff)))
  "Characters that are not seen, or change how others are seen.")

(defun sidecar-visible (text)
  "Give TEXT with what cannot be seen written out; lines and tabs stay."
  (replace-regexp-in-string sidecar-visible--hidden
                            (lambda (hidden) (format "\\u{%x}" (aref hidden 0)))
                            text t t))

(defun sidecar-visible-line (text)
  "Give TEXT on one line, with what cannot be seen written out."
  (string-replace "\n" "\\n" (sidecar-visible text)))

(defun sidecar-visible-lead (root)
  "Have the diffs of this buffer lead to files below ROOT alone.
By itself, `diff-mode' looks for a file of a folder called ~ in the home."
  (setq default-directory (file-name-as-directory (sidecar--local root)))
  (setq-local diff-remembered-defdir default-directory
              diff-remembered-files-alist nil)
  (save-excursion
    (goto-char (point-min))
    ;; As `diff-hunk-file-names' reads them.
    (while (re-search-forward
            "^[-*][-*][-*] \\([^\t\n]+\\).*\n[-+][-+][-+] \\([^\t\n]+\\)" nil t)
      (let* ((old (match-string-no-properties 1)) (new (match-string-no-properties 2))
             (name (replace-regexp-in-string "\\`[ab]/" "" (if (equal new "/dev/null") old new))))
        (dolist (both `((,new ,old) (,old ,new)))
          (push (cons both (sidecar--file root name)) diff-remembered-files-alist)))
      (forward-line 0))))

(provide 'sidecar-visible)
;;; sidecar-visible.el ends here
