;;; sidecar-composer.el --- What is typed in Sidecar's chat  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Files are completed behind `@' and commands behind `/', by
;; `completion-at-point-functions', so that front ends such as corfu draw them.

;;; Code:

(require 'sidecar-daemon)
(require 'sidecar-remotes)
(require 'sidecar-search)

(defconst sidecar-composer-commands
  '(("answer" . sidecar-answer) ("archive" . sidecar-archive) ("cancel" . sidecar-cancel)
    ("compact" . sidecar-compact) ("context" . sidecar-context) ("export" . sidecar-export)
    ("fork" . sidecar-fork) ("handoff" . sidecar-handoff) ("import" . sidecar-import)
    ("log" . sidecar-log) ("model" . sidecar-switch-model) ("new" . sidecar-new)
    ("pin" . sidecar-pin) ("policy" . sidecar-switch-policy) ("redo" . sidecar-redo)
    ("elsewhere" . sidecar-open-from-elsewhere)
    ("rename" . sidecar-rename) ("review" . sidecar-review) ("rollback" . sidecar-rollback)
    ("search" . sidecar-search) ("sessions" . sidecar-sessions)
    ("sync" . sidecar-sync) ("undo" . sidecar-undo-compaction)
    ("unpin" . sidecar-unpin))
  "What a word behind a slash does.")

(defconst sidecar-composer--takes '("compact" "handoff" "rename" "search")
  "The commands behind which words may stand.")

(defun sidecar-composer-command (text)
  "Give what TEXT does as a command, or nil if it is none, as a path.
An unknown command, or one with words that it does not take, is an error."
  (when (string-match "\\`/\\([[:word:]-]*\\)\\(?:[ \t\n]+\\(\\(?:.\\|\n\\)*\\)\\)?\\'" text)
    (let* ((name (downcase (match-string 1 text))) (words (or (match-string 2 text) ""))
           (command (cdr (assoc name sidecar-composer-commands)))
           (known (mapcar #'car sidecar-composer-commands))
           (near (and (not (string-empty-p name))
                      (car (completion-flex-all-completions name known nil (length name))))))
      (cond ((not command)
             (user-error "There is no command /%s%s; with C-u it is sent as text" name
                         (if near (format ", /%s may be meant" near) "")))
            ((string-empty-p words) (lambda () (call-interactively command)))
            ((member name sidecar-composer--takes) (lambda () (funcall command words)))
            (t (user-error "/%s takes no words after it; with C-u it is sent as text" name))))))

;;; Completion

(defun sidecar-composer--find (desk)
  "Give a completion table of the files of DESK, asked of the daemon."
  (let (asked found)
    (lambda (query _predicate action)
      (unless (equal query asked)
        (setq asked query
              found (append (plist-get (jsonrpc-request
                                        (sidecar-desk-connection desk) :session/findFiles
                                        `(:sessionId ,(sidecar-session desk) :query ,query)
                                        :timeout 5)
                                       :files)
                            nil)))
      (pcase action
        ('metadata '(metadata (category . sidecar-file) (display-sort-function . identity)))
        ('lambda (member query found))
        ('t found)
        ('nil (cond ((equal found (list query)) t) ((cdr found) query) (t (car found))))))))

;; What the daemon found by letters fits, however it begins.
(add-to-list 'completion-styles-alist
             '(sidecar sidecar-composer--try sidecar-composer--all "As the daemon finds them."))
(add-to-list 'completion-category-defaults '(sidecar-file (styles sidecar)))

(defun sidecar-composer--try (query table predicate _point)
  "Complete QUERY in TABLE, with PREDICATE, where one thing fits."
  (let ((found (funcall table query predicate nil)))
    (if (stringp found) (cons found (length found)) found)))

(defun sidecar-composer--all (query table predicate _point)
  "Give all that TABLE has for QUERY, with PREDICATE."
  (funcall table query predicate t))

(defun sidecar-composer--mentioned (path status)
  "Let PATH, which was completed with STATUS, be a mention."
  (when (eq status 'finished)
    (when (string-match-p "[[:space:]]" path)
      (save-excursion (goto-char (- (point) (length path))) (insert "\""))
      (insert "\""))
    (insert " ")))

(defun sidecar-composer-at-point (start)
  "Complete what is typed before point, of the prompt that begins at START."
  (cond ((save-excursion (and (re-search-backward "/[[:word:]-]*\\=" start t) (= (point) start)))
         (list start (point)
               (mapcar (lambda (command) (concat "/" (car command))) sidecar-composer-commands)))
        ((save-excursion (re-search-backward "[[:space:](]@\\([^[:space:]@\"]*\\)\\=" (1- start) t))
         (list (match-beginning 1) (match-end 1) (sidecar-composer--find sidecar--desk)
               :exclusive 'no :exit-function #'sidecar-composer--mentioned))))

(provide 'sidecar-composer)
;;; sidecar-composer.el ends here
