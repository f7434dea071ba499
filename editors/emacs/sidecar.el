;;; sidecar.el --- A coding agent that keeps its sessions in a daemon  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT
;; Author: The Sidecar authors
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: tools, convenience
;; URL: https://pypi.org/project/sidecard/

;;; Commentary:

;; M-x sidecar-mode in a file starts the daemon of its project, and shows how full
;; the model's context is in the mode line.  M-x sidecar-chat shows the
;; conversation, M-x sidecar-send says something in it, and M-x sidecar-menu has
;; all commands.

;;; Code:

(require 'sidecar-chat)
(require 'sidecar-context)
(require 'sidecar-daemon)
(require 'sidecar-questions)
(require 'sidecar-review)
(require 'sidecar-rollback)

(defface sidecar-green '((t :inherit success))
  "Face of the meter while there is room."
  :group 'sidecar)
(defface sidecar-yellow '((t :inherit warning))
  "Face of the meter while room gets less."
  :group 'sidecar)
(defface sidecar-orange '((t :inherit warning :weight bold))
  "Face of the meter when a compaction is near."
  :group 'sidecar)
(defface sidecar-red '((t :inherit error :weight bold))
  "Face of the meter when there is hardly any room."
  :group 'sidecar)

;;; The meter

(defun sidecar--tokens (number)
  "Give NUMBER of tokens in short."
  (if (< number 1000) (format "%d" number) (format "%.0fk" (/ number 1000.0))))

(defun sidecar-mode-line ()
  "Give the meter as it stands in the mode line."
  (let ((meter (and sidecar--desk (sidecar-desk-meter sidecar--desk))))
    (cond ((not sidecar--desk) "")
          ((not (sidecar--alive sidecar--desk)) " sidecar: down")
          ((not meter) " sidecar: …")
          (t (propertize
              (format " %s%s%.0f%%%% %s/%s"
                      (if (sidecar-desk-busy sidecar--desk) "▶" "◆")
                      (if (equal (plist-get meter :accuracy) "estimated") "~" "")
                      (plist-get meter :percent)
                      (sidecar--tokens (plist-get meter :used))
                      (sidecar--tokens (- (plist-get meter :window)
                                          (plist-get meter :reservedOutput))))
              'face (or (cdr (assoc (plist-get meter :zone)
                                    '(("green" . sidecar-green) ("yellow" . sidecar-yellow)
                                      ("orange" . sidecar-orange) ("red" . sidecar-red))))
                        'default)
              'mouse-face 'mode-line-highlight
              'help-echo (sidecar-context-about meter)
              'local-map (let ((map (make-sparse-keymap)))
                           (define-key map [mode-line mouse-1] #'sidecar-context)
                           map))))))

;;; The mode

;; Where no package manager has made autoloads.
(autoload 'sidecar-menu "sidecar-menu" nil t)

;;;###autoload
(define-minor-mode sidecar-mode
  "Let the agent know this buffer, and show its meter.
The other files of the project that are open, or opened later, join."
  :lighter (:eval (sidecar-mode-line))
  (if sidecar-mode
      (let ((root (sidecar--root)))
        (setq sidecar--desk (sidecar-desk-on root))
        (add-hook 'find-file-hook #'sidecar--join)
        (add-hook 'after-change-functions #'sidecar--did-change nil t)
        (add-hook 'after-save-hook #'sidecar--did-save nil t)
        (add-hook 'kill-buffer-hook #'sidecar--did-close nil t)
        (sidecar--did-open)
        (dolist (buffer (buffer-list))
          (with-current-buffer buffer (sidecar--join))))
    (sidecar--did-close)
    (remove-hook 'after-change-functions #'sidecar--did-change t)
    (remove-hook 'after-save-hook #'sidecar--did-save t)
    (remove-hook 'kill-buffer-hook #'sidecar--did-close t)
    (setq sidecar--desk nil)))

(defun sidecar--join ()
  "Turn `sidecar-mode' on if this buffer's file is in a folder with a daemon."
  (when (and buffer-file-name (not sidecar-mode)
             (cl-some (lambda (desk)
                        (and (sidecar--alive desk)
                             (equal (sidecar-desk-root desk) (sidecar--root))))
                      sidecar--desks))
    (sidecar-mode 1)))

;;; Commands

(defun sidecar-new ()
  "Begin a new session."
  (interactive)
  (sidecar-begin (sidecar-desk)))

(defun sidecar-cancel ()
  "Stop the running turn."
  (interactive)
  (let ((desk (sidecar-desk)))
    (jsonrpc-notify (sidecar-desk-connection desk) :session/cancel
                    (list :sessionId (sidecar-session desk)))))

(defun sidecar-compact (instructions)
  "Make room in the context, heeding INSTRUCTIONS, once you have seen the plan."
  (interactive "sCompact, keeping in mind (or nothing): ")
  (let* ((desk (sidecar-desk))
         (wish (if (string-empty-p instructions) nil (list :instructions instructions)))
         (plan (apply #'sidecar-call desk :context/compact :dryRun t wish)))
    (when (seq-empty-p (plist-get plan :plan))
      (user-error "Sidecar: %s" (plist-get plan :reason)))
    (sidecar-context-plan plan)
    (when (y-or-n-p (format "Compact %s to %s tokens%s? "
                            (plist-get plan :tokensBefore) (plist-get plan :tokensAfter)
                            (if (plist-get plan :price)
                                (format " for $%s" (plist-get plan :price)) "")))
      (sidecar-request desk :context/compact `(:sessionId ,(sidecar-session desk) ,@wish)
                       (lambda (done)
                         (message "Compacted %s to %s tokens" (plist-get done :tokensBefore)
                                  (plist-get done :tokensAfter)))))))

(defun sidecar-undo-compaction ()
  "Take the compaction back whose line point is on in the chat, or the newest."
  (interactive)
  (let* ((desk (sidecar-desk))
         (here (get-text-property (point) 'sidecar-compaction))
         (named (and here (list :compactionId here))))
    (sidecar--metered desk (plist-get (apply #'sidecar-call desk :context/undoCompaction named)
                                      :meter))
    (message "The compaction is taken back")))

(defun sidecar-pin ()
  "Keep the piece here, or one you choose, through compactions."
  (interactive)
  (sidecar--keep t "Keep: "))

(defun sidecar-unpin ()
  "Let compactions leave out the piece here, or one you choose, again."
  (interactive)
  (sidecar--keep :json-false "Keep no longer: "))

(defun sidecar--keep (pinned prompt)
  "Let the piece here, or one that is chosen at PROMPT, be PINNED."
  (let* ((desk (sidecar-desk))
         (part (or (get-text-property (point) 'sidecar-part) (sidecar--piece desk prompt))))
    (sidecar-call desk :context/pin :partId part :pinned pinned)
    (message (if (eq pinned t) "It is kept through compactions" "Compactions may leave it out"))))

(defun sidecar--piece (desk prompt)
  "Let a piece of the context of DESK be chosen at PROMPT, and give its part."
  (let ((pieces (seq-filter (lambda (piece) (plist-get piece :partId))
                            (plist-get (sidecar-call desk :context/breakdown) :segments)))
        (number 0))
    (setq pieces (mapcar (lambda (piece)
                           (cons (format "%d. %s: %s" (setq number (1+ number))
                                         (plist-get piece :region) (plist-get piece :label))
                                 (plist-get piece :partId)))
                         pieces))
    (cdr (assoc (completing-read prompt pieces nil t) pieces))))

(defun sidecar-switch-model ()
  "Choose the model that answers from now on."
  (interactive)
  (sidecar--set-option "model"))

(defun sidecar-switch-policy ()
  "Choose the policy that decides when and how to compact the context."
  (interactive)
  (sidecar--set-option "policy"))

(defun sidecar--set-option (id)
  "Let another value of the session's option ID be chosen."
  (let* ((desk (sidecar-desk))
         (option (seq-find (lambda (one) (equal (plist-get one :id) id))
                           (and (sidecar-session desk) (sidecar-desk-options desk))))
         (now (plist-get option :currentValue))
         (known (mapcar (lambda (one) (cons (plist-get one :value) (plist-get one :description)))
                        (plist-get option :options)))
         (completion-extra-properties
          (list :annotation-function
                (lambda (name) (concat "  " (cdr (assoc name known))))))
         (value (completing-read (format "%s (now %s): " (plist-get option :name) now)
                                 known nil 'confirm nil nil now))
         (told (sidecar-call desk :session/set_config_option :configId id :value value)))
    (setf (sidecar-desk-options desk) (plist-get told :configOptions))
    (message "%s: %s" (plist-get option :name) value)))

(defun sidecar-fork ()
  "Go on in another session that branches off at the message here, or now."
  (interactive)
  (let* ((desk (sidecar-desk))
         (message (get-text-property (point) 'sidecar-message))
         (made (apply #'sidecar-call desk :session/fork
                      (and message (list :atMessageId message)))))
    (sidecar-switch desk (plist-get made :sessionId))))

(defun sidecar-handoff (goal)
  "Go on with GOAL in a session that knows where the work stands."
  (interactive "sGoal of the next session: ")
  (let* ((desk (sidecar-desk))
         (made (sidecar-call desk :session/handoff :goal goal :continue t)))
    (sidecar-switch desk (plist-get made :sessionId))))

(defun sidecar-export (file)
  "Write the session to FILE; keys that are found in it stay out of it."
  (interactive
   (list (read-file-name "Export to: " nil nil nil
                         (concat (sidecar-session (sidecar-desk)) ".sidecar"))))
  (let ((file (expand-file-name file)))
    (when (or (not (file-exists-p file)) (y-or-n-p (format "Replace %s? " file)))
      (let ((done (sidecar-call (sidecar-desk) :session/export :path file :overwrite t)))
        (message "Exported to %s. %s" (plist-get done :path)
                 (mapconcat #'identity (plist-get done :notes) " "))))))

(defun sidecar-import (file)
  "Go on in a session made of FILE: an exported one, or another agent's recording."
  (interactive "fImport: ")
  (let* ((desk (sidecar-desk))
         (made (sidecar-call desk :session/import :path (expand-file-name file)
                             :cwd (sidecar-desk-root desk))))
    (if-let ((folder (sidecar--elsewhere desk (plist-get made :sessionId))))
        (message "It is back among the sessions of %s: open it there" folder)
      (sidecar-switch desk (plist-get made :sessionId))
      (message "Imported. %s" (mapconcat #'identity (plist-get made :notes) " ")))))

(defun sidecar--elsewhere (desk session)
  "Give the folder of SESSION if it is none of DESK's.
A file of the archive brings a session back to the folder it was of,
which has rules, trust and paths of its own."
  (let ((page t) (cursor nil) found)
    (while page
      (setq page (jsonrpc-request (sidecar-desk-connection desk) :session/list
                                  (if cursor (list :cursor cursor) (make-hash-table)))
            found (seq-find (lambda (one) (equal session (plist-get one :sessionId)))
                            (plist-get page :sessions))
            cursor (plist-get page :nextCursor)
            page (and cursor (not found))))
    (unless (and found (file-equal-p (plist-get found :cwd) (sidecar-desk-root desk)))
      (plist-get found :cwd))))

(defun sidecar-archive ()
  "Put the session away into a file, and begin another.
It leaves the list of sessions and goes whole into a packed file in
the daemon's data folder; `sidecar-import' of that file brings it back
as it was.  A session that another window has open is refused, and one
in which a turn runs."
  (interactive)
  (let ((desk (sidecar-desk)))
    (when (y-or-n-p (concat "The session leaves the list and goes into a packed file, which "
                            "M-x sidecar-import brings back.  Archive it? "))
      (let ((put (append (plist-get (sidecar-call desk :session/archive) :sessions) nil)))
        (sidecar-begin desk)
        (message "Archived to %s" (plist-get (car (last put)) :path))))))

(defun sidecar-log ()
  "Show what the daemon has logged."
  (interactive)
  (pop-to-buffer (jsonrpc-stderr-buffer (sidecar-desk-connection (sidecar-desk)))))

(provide 'sidecar)
;;; sidecar.el ends here
