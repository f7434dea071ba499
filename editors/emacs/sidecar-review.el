;;; sidecar-review.el --- A turn of Sidecar's, reviewed hunk by hunk  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A buffer in `diff-mode' has what is left of a turn's changes; each file and each
;; hunk is kept or taken back on its own, and the buffer drawn anew.

;;; Code:

(require 'cl-lib)
(require 'diff-mode)
(require 'sidecar-rollback)
(require 'sidecar-visible)

(defconst sidecar-review--hint "\\<sidecar-review-mode-map>\
# \\[sidecar-review-take-back-hunk] takes back the hunk at point, \
\\[sidecar-review-take-back-file] the file; \\[sidecar-review-keep-hunk], \
\\[sidecar-review-keep-file] keep it; \\[sidecar-review-undo] undoes that; \\[quit-window] closes
"
  "What a review says of its keys.")

(defvar-local sidecar-review--turn nil
  "The turn that is reviewed: its session and, as `:from', where it began.
Its `:title' and `:paths' are known, and as `:moved' those of moved files.")
(defvar-local sidecar-review--kept nil "The names of the hunks that are kept.")
(defvar-local sidecar-review--done nil
  "What was done, the newest first: lists of names that were kept, ids of restores.")

(defvar sidecar-review-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map diff-mode-shared-map)
    (define-key map (kbd "x") #'sidecar-review-take-back-hunk)
    (define-key map (kbd "X") #'sidecar-review-take-back-file)
    (define-key map (kbd "a") #'sidecar-review-keep-hunk)
    (define-key map (kbd "A") #'sidecar-review-keep-file)
    (define-key map (kbd "u") #'sidecar-review-undo)
    (define-key map [remap diff-hunk-kill] #'sidecar-review-keep-hunk)
    (define-key map [remap diff-file-kill] #'sidecar-review-keep-file)
    map)
  "Keys of a review.")

(define-derived-mode sidecar-review-mode diff-mode "Sidecar Review"
  "Mode of a turn's changes that are reviewed.
\\{sidecar-review-mode-map}"
  (setq-local diff-font-lock-syntax 'hunk-only)
  (setq-local revert-buffer-function #'sidecar-review--look)
  (setq buffer-read-only t)
  ;; The keys that `diff-mode' gives what is read only would win.
  (setq-local minor-mode-overriding-map-alist
              (list (cons 'buffer-read-only sidecar-review-mode-map))))

;;; Diffs

(defun sidecar-review--hunks (diff)
  "Give the hunks of DIFF as the daemon takes them."
  (let* ((pieces (cdr (split-string (concat "\n" diff) "\n@@ "))) (last (1- (length pieces))))
    (seq-map-indexed (lambda (piece index) (concat "@@ " piece (if (= index last) "" "\n")))
                     pieces)))

(defun sidecar-review--turned (hunk)
  "Give the lines of HUNK, of what a restore would do, as the turn made it.
What goes stands before what comes."
  (let (made gone come last)
    (dolist (line (split-string (string-remove-suffix "\n" hunk) "\n"))
      (let ((rest (if (string-empty-p line) "" (substring line 1))))
        (pcase (substring line 0 (min 1 (length line)))
          ("-" (push (concat "+" rest) come) (setq last 'come))
          ("+" (push (concat "-" rest) gone) (setq last 'gone))
          ("\\" (pcase last ('come (push line come)) ('gone (push line gone)) (_ (push line made))))
          (_ (setq made (append come gone made) come nil gone nil last nil)
             (push (if made line
                     (replace-regexp-in-string "-\\([^ ]+\\) \\+\\([^ ]+\\)" "-\\2 +\\1" line))
                   made)))))
    (nreverse (append come gone made))))

(defun sidecar-review--named (path hunks)
  "Name each of HUNKS of the file at PATH, in a table.
The name is the text without its place, and which of those with that text."
  (let ((names (make-hash-table :test #'equal)) (counts (make-hash-table :test #'equal)))
    (dolist (hunk hunks names)
      (let ((text (substring hunk (string-match "\n\\|\\'" hunk))))
        (puthash hunk (list (plist-get sidecar-review--turn :from) path text
                            (cl-incf (gethash text counts 0)))
                 names)))))

(defun sidecar-review--name (file hunk)
  "Give the name of HUNK of FILE."
  (gethash hunk (plist-get file :names)))

;;; Drawing

(defun sidecar-review--insert (file)
  "Insert what is left of the change of FILE."
  (let* ((all (sidecar-review--hunks (or (plist-get file :diff) "")))
         (file (append (list :names (sidecar-review--named (plist-get file :path) all)) file))
         (hunks (seq-remove (lambda (hunk) (member (sidecar-review--name file hunk)
                                                   sidecar-review--kept))
                            all))
         (path (sidecar-visible-line (plist-get file :path))) (start (point)))
    (insert (if hunks (format "--- a/%s\n+++ b/%s\n" path path)
              (format "# %s: %s\n" path (if all "kept" (sidecar-visible-line
                                                        (plist-get file :reason))))))
    (put-text-property start (point) 'sidecar-review (list file hunks))
    (dolist (hunk hunks)
      (let ((at (point)))
        (insert (string-join (sidecar-review--turned hunk) "\n") "\n")
        (put-text-property at (point) 'sidecar-review (list file hunks hunk))))))

(defun sidecar-review--look (&rest _)
  "Draw what is left of the turn: what going back would do now."
  (let* ((plan (sidecar-review--restore :paths (plist-get sidecar-review--turn :paths)
                                        :dryRun t :onConflict "merge"))
         (files (seq-mapcat (lambda (fate) (append (plist-get (plist-get plan :files) fate) nil))
                            '(:conflicts :merged :restored :skipped)))
         (title (sidecar-visible-line (plist-get sidecar-review--turn :title)))
         (line (line-number-at-pos)) (inhibit-read-only t))
    (erase-buffer)
    (insert (format "# What is left of the changes of “%s”\n" title)
            (substitute-command-keys sidecar-review--hint) "\n")
    (mapc #'sidecar-review--insert
          (sort files (lambda (one other) (string< (plist-get one :path)
                                                   (plist-get other :path)))))
    (set-buffer-modified-p nil)
    (sidecar-visible-lead (sidecar-desk-root sidecar--desk))
    (goto-char (point-min))
    (forward-line (1- line))))

;;; Keeping and taking back

(defun sidecar-review--here ()
  "Give the file at point, its hunks and the one at point, or an error."
  (unless (derived-mode-p 'sidecar-review-mode) (user-error "This is no review"))
  (or (get-text-property (point) 'sidecar-review) (user-error "There is no change here")))

(defun sidecar-review--call (method &rest params)
  "Ask the daemon for METHOD with PARAMS about the session that is reviewed.
A turn of which the end was told is still concluded for a moment."
  (unless (equal (plist-get sidecar-review--turn :session) (sidecar-desk-session sidecar--desk))
    (user-error "This is another session's review: M-x sidecar-review shows this one's"))
  (let ((tries 5) done)
    (while (not done)
      (condition-case problem
          (setq done (apply #'sidecar-call sidecar--desk method params))
        (user-error
         (unless (and (< 0 (cl-decf tries))
                      (string-search "a turn is running" (error-message-string problem)))
           (signal (car problem) (cdr problem)))
         (sleep-for 0.3))))
    done))

(defun sidecar-review--restore (&rest params)
  "Ask for a restore of the turn's files, with PARAMS."
  (apply #'sidecar-review--call :checkpoint/restore
         :checkpointId (plist-get sidecar-review--turn :from) :scope "files" params))

(defun sidecar-review--act (act)
  "Do ACT, which gives what became of files, draw what is left, and give it.
A refusal is told once that is drawn."
  (let (done refused)
    (condition-case problem (setq done (funcall act))
      (user-error (setq refused (error-message-string problem))))
    (sidecar-settle sidecar--desk)
    (sidecar-review--look)
    (message "%s" (or refused (if done (sidecar-rollback--summary done) "Left as it was")))
    done))

(defun sidecar-review--foreseen (ask)
  "Do what ASK asks for with its parameters; a conflict is asked about before."
  (let* ((plan (funcall ask :dryRun t :onConflict "merge"))
         (free (seq-empty-p (plist-get (plist-get plan :files) :conflicts)))
         (choice (if (and free (not (plist-get plan :reason))) "merge"
                   (sidecar-rollback--agree sidecar--desk nil plan))))
    (and choice (funcall ask :onConflict choice :expectedRevision (plist-get plan :revision)))))

(defun sidecar-review-take-back-hunk ()
  "Take back the hunk at point; on a file's name, the file."
  (interactive)
  (pcase-let ((`(,file ,_ ,hunk) (sidecar-review--here)))
    ;; A file that was moved goes back whole, with its other name.
    (if (or (not hunk) (member (plist-get file :path) (plist-get sidecar-review--turn :moved)))
        (sidecar-review-take-back-file)
      (sidecar-review--took-back
       (lambda () (prog1 (sidecar-review--restore :paths (vector (plist-get file :path))
                                                  :hunks (vector hunk) :onConflict "merge")
                    (sidecar-review--recount (sidecar-review--name file hunk))))))))

(defun sidecar-review--recount (name)
  "Forget what is kept of NAME's text behind it: those are counted anew."
  (setq sidecar-review--kept
        (seq-remove (lambda (one) (and (equal (butlast one) (butlast name))
                                       (>= (car (last one)) (car (last name)))))
                    sidecar-review--kept)))

(defun sidecar-review-take-back-file ()
  "Take back the file at point; where your work is in the way, you are asked."
  (interactive)
  (let ((paths (vector (plist-get (car (sidecar-review--here)) :path))))
    (sidecar-review--took-back
     (lambda () (sidecar-review--foreseen
                 (lambda (&rest choice) (apply #'sidecar-review--restore :paths paths choice)))))))

(defun sidecar-review--took-back (act)
  "Do ACT, which takes something back, so that it can be undone."
  (let ((done (sidecar-review--act act)))
    (when done (push (plist-get done :undoCheckpointId) sidecar-review--done))))

(defun sidecar-review--keep (file hunks)
  "Keep HUNKS of FILE, which are shown no more."
  (let ((names (mapcar (lambda (hunk) (sidecar-review--name file hunk)) hunks)))
    (setq sidecar-review--kept (append names sidecar-review--kept))
    (push names sidecar-review--done)
    (sidecar-review--look)))

(defun sidecar-review-keep-hunk ()
  "Keep the hunk at point; on a file's name, the file."
  (interactive)
  (pcase-let ((`(,file ,hunks ,hunk) (sidecar-review--here)))
    (sidecar-review--keep file (if hunk (list hunk) hunks))))

(defun sidecar-review-keep-file ()
  "Keep the file at point."
  (interactive)
  (pcase-let ((`(,file ,hunks . ,_) (sidecar-review--here)))
    (sidecar-review--keep file hunks)))

(defun sidecar-review-undo ()
  "Undo what was kept or taken back last in this review."
  (interactive)
  (let ((last (or (pop sidecar-review--done) (user-error "Nothing was kept or taken back here"))))
    (if (listp last)
        (progn (setq sidecar-review--kept (seq-difference sidecar-review--kept last))
               (sidecar-review--look))
      (unless (sidecar-review--act
               (lambda () (sidecar-review--foreseen
                           (lambda (&rest choice)
                             (apply #'sidecar-review--call :checkpoint/redo
                                    :checkpointId last choice)))))
        (push last sidecar-review--done)))))

;;; Turns

(defun sidecar-review--turns (desk)
  "Give each turn of DESK that changed files, the newest first."
  (let (turns)
    (seq-doseq (one (plist-get (sidecar-call desk :checkpoint/list) :checkpoints))
      (unless (eq (plist-get one :left) t)
        (let ((turn (assoc (plist-get one :turnId) turns)))
          (if turn (nconc turn (append (plist-get one :files) nil))
            (push (list (plist-get one :turnId) one) turns)))))
    (seq-filter #'cddr turns)))

(defun sidecar-review ()
  "Review the turn of the message at point, else the newest that changed files."
  (interactive)
  (let* ((desk (sidecar-desk)) (here (get-text-property (point) 'sidecar-message))
         (turns (sidecar-review--turns desk))
         (turn (or (seq-find (lambda (one) (equal here (plist-get (cadr one) :messageId))) turns)
                   (car turns) (user-error "No turn has changed a file yet")))
         (moved (seq-filter (lambda (file) (plist-get file :from)) (cddr turn)))
         (paths (lambda (files) (seq-mapcat (lambda (file) (delq nil (list (plist-get file :path)
                                                                           (plist-get file :from))))
                                            files))))
    (pop-to-buffer (format "*sidecar review: %s*"
                           (file-name-nondirectory (sidecar-desk-root desk))))
    (unless (derived-mode-p 'sidecar-review-mode) (sidecar-review-mode))
    (setq sidecar--desk desk
          sidecar-review--done nil
          sidecar-review--turn (list :session (sidecar-desk-session desk)
                                     :from (plist-get (cadr turn) :checkpointId)
                                     :title (plist-get (cadr turn) :title)
                                     :paths (vconcat (funcall paths (cddr turn)))
                                     :moved (funcall paths moved)))
    (sidecar-review--look)))

(provide 'sidecar-review)
;;; sidecar-review.el ends here
