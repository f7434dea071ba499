;;; sidecar-rollback.el --- Going back in a Sidecar session  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A turn is chosen, what would happen is shown, and then it is done or not.

;;; Code:

(require 'diff-mode)
(require 'ediff)
(require 'sidecar-chat)
(require 'sidecar-visible)

(defun sidecar-rollback ()
  "Go back to before a turn: conversation, files or both."
  (interactive)
  (let* ((desk (sidecar-desk))
         (turn (sidecar-rollback--turn desk))
         (scope (completing-read "Take back (both, files, conversation, file): "
                                 '("both" "files" "conversation" "file") nil t nil nil "both"))
         (before (list :beforeMessageId (plist-get turn :messageId)))
         (wish (append before (if (equal scope "file") (sidecar-rollback--file desk before)
                                (list :scope scope))))
         (foreseen (apply #'sidecar-call desk :checkpoint/restore :dryRun t wish))
         (choice (sidecar-rollback--agree desk turn foreseen)))
    (when choice
      (let ((done (apply #'sidecar-call desk :checkpoint/restore :onConflict choice wish)))
        (sidecar-rollback--done desk done "Went back")))))

(defun sidecar-rollback--file (desk before)
  "Have the user choose a file that going back on DESK to BEFORE touches."
  (let* ((files (plist-get (apply #'sidecar-call desk :checkpoint/restore
                                  :dryRun t :scope "files" before)
                           :files))
         (paths (seq-mapcat (lambda (fate)
                              (mapcar (lambda (file) (plist-get file :path))
                                      (plist-get files fate)))
                            '(:restored :merged :conflicts))))
    (unless paths (user-error "No file was changed since"))
    (list :scope "files"
          :paths (vector (completing-read "Take back the file: " paths nil t)))))

(defun sidecar-redo ()
  "Undo the newest rollback."
  (interactive)
  (let* ((desk (sidecar-desk))
         (foreseen (sidecar-call desk :checkpoint/redo :dryRun t))
         (choice (sidecar-rollback--agree desk nil foreseen)))
    (when choice
      (sidecar-rollback--done desk (sidecar-call desk :checkpoint/redo :onConflict choice)
                              "Went forth again"))))

(defun sidecar-rollback--done (desk done what)
  "Show the session of DESK after DONE, and say WHAT was done."
  (sidecar-settle desk)
  (sidecar-switch desk (sidecar-desk-session desk))
  (when (plist-get done :restoredPrompt)
    (sidecar-chat-take desk (plist-get done :restoredPrompt)))
  (message "%s: %s" what (sidecar-rollback--summary done)))

(defun sidecar-rollback--turn (desk)
  "Have the user choose a turn of DESK, the newest first; gives its checkpoint."
  (let ((files (make-hash-table :test #'equal)) (number 0) turns here default)
    (setq here (get-text-property (point) 'sidecar-message))
    (seq-doseq (one (plist-get (sidecar-call desk :checkpoint/list) :checkpoints))
      (let ((turn (plist-get one :turnId)))
        (unless (eq (plist-get one :left) t)
          (unless (assoc turn turns)
            (push (cons turn one) turns))
          (push (plist-get one :files) (gethash turn files)))))
    (unless turns
      (user-error "There is no turn to go back to yet"))
    (let* ((lines (mapcar
                   (lambda (turn)
                     (let ((line (format "%d. %s%s" (cl-incf number)
                                         (sidecar-visible-line (plist-get (cdr turn) :title))
                                         (sidecar-rollback--files (gethash (car turn) files)))))
                       (when (equal here (plist-get (cdr turn) :messageId))
                         (setq default line))
                       (cons line (cdr turn))))
                   turns))
           (table (lambda (string predicate action)
                    (if (eq action 'metadata)
                        '(metadata (display-sort-function . identity))
                      (complete-with-action action lines string predicate)))))
      (cdr (assoc (completing-read "Go back to before: " table nil t nil nil
                                   (or default (caar lines)))
                  lines)))))

(defun sidecar-rollback--files (lists)
  "Give LISTS of changed files in a few words, with who changed them."
  (let ((words (seq-mapcat
                (lambda (files)
                  (mapcar (lambda (file) (format "%s (%s)" (plist-get file :path)
                                                 (sidecar-rollback--author
                                                  (plist-get file :author))))
                          files))
                (reverse lists))))
    (if words (format "  [%s]" (string-join (seq-uniq words) ", ")) "")))

(defun sidecar-rollback--author (author)
  "Give AUTHOR as people read it."
  (pcase author
    ("tool" "agent") ("shell" "agent's command") ("user" "you")
    ("unknown" "agent's command or you") (_ author)))

(defun sidecar-rollback--summary (done)
  "Say what becomes of files by DONE."
  (let ((files (plist-get done :files)) words)
    (dolist (fate '(:conflicts :skipped :merged :restored))
      (let ((paths (mapcar (lambda (file) (sidecar-visible-line (plist-get file :path)))
                           (plist-get files fate))))
        (when paths
          (push (format "%s %s" (string-join paths ", ") (substring (symbol-name fate) 1))
                words))))
    (string-join (cons (if words (string-join words "; ") "no file is touched")
                       (append (plist-get done :notes) nil))
                 ". ")))

(defun sidecar-rollback--agree (desk turn foreseen)
  "Show what DESK would do to go back before TURN, as FORESEEN; give how, or nil.
How is what becomes of conflicts: keep, overwrite or merge; refuse where
there are none.  With ediff, the files are compared, and nothing is done."
  (when (plist-get foreseen :reason)
    (user-error "Sidecar: %s" (plist-get foreseen :reason)))
  (let* ((conflicts (plist-get (plist-get foreseen :files) :conflicts))
         (ways (append (if (zerop (length conflicts)) '("apply") '("merge" "keep" "overwrite"))
                       (and turn '("ediff")) '("cancel")))
         (buffer (sidecar-rollback--preview desk turn foreseen))
         (choice (completing-read (format "%s (%s): " (sidecar-rollback--summary foreseen)
                                          (string-join ways ", "))
                                  ways nil t nil nil "cancel")))
    (pcase choice
      ("ediff" (sidecar-rollback--ediff desk turn) nil)
      ("cancel" (message "Left as it was") nil)
      (_ (let ((window (get-buffer-window buffer)))
           (when window (quit-window nil window)))
         (if (equal choice "apply") "refuse" choice)))))

(defun sidecar-rollback--preview (desk turn foreseen)
  "Show in a buffer what DESK would do to go back before TURN, as FORESEEN."
  (let ((diffs (and turn (sidecar-rollback--diffs desk turn))))
    (with-current-buffer (get-buffer-create "*sidecar rollback*")
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert "What would happen: " (sidecar-rollback--summary foreseen) "\n")
        (seq-doseq (file (plist-get (plist-get foreseen :files) :conflicts))
          (insert "\n" (sidecar-visible-line (plist-get file :path)) ": "
                  (sidecar-visible-line (plist-get file :reason)) "\n")
          (pcase-dolist (`(,diff . ,what) '((:agentDiff . "What the agent did:\n")
                                            (:userDiff . "What was done since:\n")
                                            (:unknownDiff . "Done by the agent's command or by you:\n")))
            (let ((text (plist-get file diff)))
              (when (and text (not (string-empty-p text)))
                (insert what text)))))
        (when diffs
          (insert "\nAll that changed since then:\n")
          (seq-doseq (file diffs) (insert (plist-get file :diff)))))
      (diff-mode)
      (setq buffer-read-only t)
      (sidecar-visible-lead (sidecar-desk-root desk))
      (goto-char (point-min))
      (display-buffer (current-buffer))
      (current-buffer))))

(defun sidecar-rollback--diffs (desk turn)
  "Give what changed on DESK since before TURN."
  (plist-get (sidecar-call desk :checkpoint/diff :from (plist-get turn :checkpointId)) :files))

(defun sidecar-rollback--ediff (desk turn)
  "Compare a file of DESK that changed since TURN with what it was."
  (let* ((diffs (mapcar (lambda (file) (cons (plist-get file :path) (plist-get file :diff)))
                        (sidecar-rollback--diffs desk turn)))
         (path (if (cdr diffs)
                   (completing-read "Compare: " (mapcar #'car diffs) nil t)
                 (caar diffs)))
         (file (sidecar--file (sidecar-desk-root desk) path))
         (now (find-file-noselect file)))
    (with-current-buffer (get-buffer-create (format "*%s before*" path))
      (erase-buffer)
      (insert (sidecar-rollback--unpatched (with-current-buffer now (sidecar--text))
                                           (cdr (assoc path diffs))))
      (let ((buffer-file-name file)) (set-auto-mode))
      (ediff-buffers (current-buffer) now))))

(defun sidecar-rollback--unpatched (text diff)
  "Give TEXT as it was before the unified DIFF."
  (with-temp-buffer
    (insert text)
    (dolist (hunk (cdr (split-string diff "^@@ ")))
      (string-match "\\`-\\([0-9]+\\)\\(,0\\)?[0-9,]* \\+[0-9]+\\(?:,\\([0-9]+\\)\\)?" hunk)
      (let ((first (string-to-number (match-string 1 hunk)))
            (behind (match-string 2 hunk))
            (count (string-to-number (or (match-string 3 hunk) "1")))
            (lines (cdr (split-string hunk "\n"))))
        (goto-char (point-min))
        ;; Earlier hunks are undone already, so that lines count as they did then.
        (forward-line (if behind first (1- first)))
        (delete-region (point) (line-beginning-position (1+ count)))
        (while lines
          (let ((line (pop lines)))
            (when (string-match-p "\\`[- ]" line)
              (insert (substring line 1)
                      (if (string-prefix-p "\\" (or (car lines) "")) "" "\n")))))))
    (buffer-string)))

(provide 'sidecar-rollback)
;;; sidecar-rollback.el ends here
