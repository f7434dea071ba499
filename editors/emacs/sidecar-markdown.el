;;; sidecar-markdown.el --- Faces for what Sidecar's agent says  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Answers are Markdown.  Where there is markdown-mode, they have its faces, else a
;; few of our own.

;;; Code:

(require 'subr-x)

(declare-function gfm-mode "ext:markdown-mode")

(defface sidecar-heading '((t :inherit (bold font-lock-keyword-face)))
  "Face of a heading in an answer."
  :group 'sidecar)
(defface sidecar-code '((t :inherit (fixed-pitch font-lock-constant-face)))
  "Face of code in an answer."
  :group 'sidecar)

(defconst sidecar-markdown--rules
  '(("^#\\{1,6\\} .*$" . sidecar-heading)
    ("\\*\\*[^*\n]+\\*\\*" . bold)
    ("`[^`\n]+`" . sidecar-code))
  "What is looked for in an answer, and its face.")

(defun sidecar-markdown--plain ()
  "Put our own faces on the Markdown in this buffer."
  (pcase-dolist (`(,pattern . ,face) sidecar-markdown--rules)
    (goto-char (point-min))
    (while (re-search-forward pattern nil t)
      (put-text-property (match-beginning 0) (match-end 0) 'face face)))
  (goto-char (point-min))
  (while (re-search-forward "^[ \t]*```" nil t)
    (let ((start (line-beginning-position)))
      (end-of-line)
      (re-search-forward "^[ \t]*```[ \t]*$" nil 'move)
      (put-text-property start (point) 'face 'sidecar-code))))

(defun sidecar-markdown--faces (text)
  "Give the faces of the Markdown TEXT: a list of (START END FACE), from 0."
  (with-current-buffer (get-buffer-create " *sidecar markdown*")
    (let ((inhibit-read-only t) faces)
      (erase-buffer)
      (insert text)
      (if (not (fboundp 'gfm-mode))
          (sidecar-markdown--plain)
        (unless (derived-mode-p 'text-mode)
          ;; Of one's own hooks for files, none is meant for this.
          (delay-mode-hooks (gfm-mode)))
        (font-lock-set-defaults)
        (font-lock-fontify-region (point-min) (point-max)))
      (let ((at (point-min)) next)
        (while (< at (point-max))
          (setq next (next-single-property-change at 'face nil (point-max)))
          (when (get-text-property at 'face)
            (push (list (1- at) (1- next) (get-text-property at 'face)) faces))
          (setq at next)))
      faces)))

(defun sidecar-markdown-fontify (start end)
  "Put faces on the Markdown from START to END."
  (let ((faces (sidecar-markdown--faces (buffer-substring-no-properties start end))))
    (with-silent-modifications
      (put-text-property start end 'face 'default)
      (pcase-dolist (`(,from ,to ,face) faces)
        (put-text-property (+ start from) (+ start to) 'face face)))))

;;; Copying

(defun sidecar-markdown--code (start end)
  "Give the code between fences around point, from START to END; nil elsewhere."
  (let ((here (point)) code)
    (save-excursion
      (goto-char start)
      (while (and (not code) (re-search-forward "^[ \t]*```.*\n" end t))
        (let ((fence (match-beginning 0)) (first (point)))
          (when (and (re-search-forward "^[ \t]*```[ \t]*$" end t) (<= fence here (point)))
            (setq code (buffer-substring-no-properties first (match-beginning 0)))))))
    code))

(defun sidecar-markdown-copy (start end output)
  "Copy the code at point, else OUTPUT, else the text from START to END."
  (kill-new (or output (sidecar-markdown--code start end)
                (string-remove-prefix
                 "› " (string-trim (buffer-substring-no-properties start end)))))
  (message "Copied: %s" (car (split-string (current-kill 0) "\n"))))

(provide 'sidecar-markdown)
;;; sidecar-markdown.el ends here
