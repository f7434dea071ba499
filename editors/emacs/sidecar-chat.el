;;; sidecar-chat.el --- Shows a Sidecar session as it goes on  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A buffer with the conversation above and the prompt below.  Each part of the
;; session has a place of its own, where it grows and changes as updates come.
;; Thinking and what tools said are folded behind buttons.

;;; Code:

(require 'sidecar-composer)
(require 'sidecar-daemon)
(require 'sidecar-markdown)
(require 'sidecar-unseen)

(defface sidecar-user '((t :inherit bold))
  "Face of what the user said."
  :group 'sidecar)
(defface sidecar-thought '((t :inherit (shadow italic)))
  "Face of the model's thinking."
  :group 'sidecar)
(defface sidecar-tool '((t :inherit font-lock-function-name-face))
  "Face of a tool call's title."
  :group 'sidecar)
(defface sidecar-notice '((t :inherit warning))
  "Face of what the daemon has to say."
  :group 'sidecar)

(defconst sidecar-chat--prompt "› " "What stands before the user's prompt.")

(defconst sidecar-chat--hint "\\<sidecar-chat-mode-map>\
Say below what is to be done, for example “read README.md”;
\\[sidecar-chat-return] sends, \\[newline] begins a line,
\\[completion-at-point] completes a file behind @ and a command behind /.

\\[sidecar-answer]  answers what the agent asks before it acts
\\[sidecar-cancel]  stops it
\\[sidecar-rollback]  goes back to before a turn, files and conversation
\\[sidecar-menu]  shows all commands

Without an API key a model that knows a few rules answers, which needs no
network: \\[sidecar-switch-model] chooses another."
  "What an empty chat says.")

(defvar-local sidecar-chat--parts nil
  "The places of the parts by name: (START END . what is known).")
(defvar-local sidecar-chat--said nil "The answers that have grown and have no faces yet.")
(defvar-local sidecar-chat--pause 0.2 "Seconds until those get them.")
(defvar-local sidecar-chat--end nil "Where the conversation ends.")
(defvar-local sidecar-chat--input nil "Where the user's prompt begins.")

(defvar sidecar-chat-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'sidecar-chat-return)
    (define-key map (kbd "C-j") #'newline)
    (define-key map (kbd "TAB") #'completion-at-point)
    (define-key map (kbd "C-c C-k") #'sidecar-cancel)
    (define-key map (kbd "C-c C-a") #'sidecar-answer)
    (define-key map (kbd "C-c C-r") #'sidecar-rollback)
    (define-key map (kbd "C-c C-v") #'sidecar-review)
    (define-key map (kbd "C-c C-w") #'sidecar-copy)
    (define-key map (kbd "C-c C-y") #'sidecar-recall)
    (define-key map (kbd "C-c C-n") #'sidecar-new)
    (define-key map (kbd "C-c C-l") #'sidecar-compact)
    (define-key map (kbd "C-c C-s") #'sidecar-menu)
    map)
  "Keys of the chat.")

(declare-function sidecar-answer "sidecar-questions")
(declare-function sidecar-cancel "sidecar")
(declare-function sidecar-compact "sidecar")
(declare-function sidecar-menu "sidecar-menu")
(declare-function sidecar-new "sidecar")
(declare-function sidecar-review "sidecar-review")
(declare-function sidecar-rollback "sidecar-rollback")

(define-derived-mode sidecar-chat-mode text-mode "Sidecar"
  "Mode of a conversation with the agent.
\\{sidecar-chat-mode-map}"
  (setq-local buffer-invisibility-spec nil)
  (setq-local truncate-lines nil)
  (visual-line-mode 1)
  (add-hook 'completion-at-point-functions #'sidecar-chat--complete nil t)
  (buffer-disable-undo)
  (sidecar-chat--clear))

(defun sidecar-chat-buffer (desk)
  "Give the chat of DESK."
  (if (buffer-live-p (sidecar-desk-chat desk))
      (sidecar-desk-chat desk)
    (let ((name (file-name-nondirectory (sidecar-desk-root desk))))
      (with-current-buffer (generate-new-buffer (format "*sidecar: %s*" name))
        (sidecar-chat-mode)
        (setq sidecar--desk desk)
        (setq default-directory (file-name-as-directory (sidecar-desk-root desk)))
        (setf (sidecar-desk-chat desk) (current-buffer))))))

(defun sidecar-chat ()
  "Show the conversation of this project."
  (interactive)
  (pop-to-buffer (sidecar-chat-buffer (sidecar-desk)))
  (goto-char (point-max)))

;;; The user's prompt

(defun sidecar-chat--clear ()
  "Empty the chat."
  (let ((inhibit-read-only t) (inhibit-modification-hooks t))
    (erase-buffer)
    (setq sidecar-chat--parts (make-hash-table :test #'equal)
          sidecar-chat--end (copy-marker (point-min)))
    (insert (propertize (concat "\n" sidecar-chat--prompt) 'face 'minibuffer-prompt
                        'read-only t 'front-sticky t 'rear-nonsticky t 'field 'prompt))
    (set-marker-insertion-type sidecar-chat--end t)
    (setq sidecar-chat--input (copy-marker (point-max))))
  (sidecar-chat--replace "hint" (substitute-command-keys sidecar-chat--hint) 'shadow))

(defun sidecar-chat--complete ()
  "Complete what stands before point in the prompt."
  (and (>= (point) sidecar-chat--input)
       (sidecar-composer-at-point (marker-position sidecar-chat--input))))

(defun sidecar-chat-return (meant)
  "Send the prompt, run it if it is a /command, or press the button here.
With MEANT, a prefix argument, what looks like a command is sent, too."
  (interactive "P")
  (if (< (point) sidecar-chat--input)
      (if (button-at (point)) (push-button) (goto-char (point-max)))
    (let* ((text (string-trim (buffer-substring-no-properties sidecar-chat--input (point-max))))
           (command (and (not meant) (sidecar-composer-command text))))
      (unless (or command (string-empty-p text)) (sidecar-chat--send text))
      (sidecar-chat-take sidecar--desk nil)
      (when command (funcall command)))))

(defun sidecar-chat-take (desk text)
  "Put TEXT in place of the prompt in the chat of DESK, and give what stood there."
  (with-current-buffer (sidecar-chat-buffer desk)
    (goto-char (point-max))
    (prog1 (delete-and-extract-region sidecar-chat--input (point-max))
      (when text (insert text)))))

(defun sidecar-send (text &optional meant)
  "Have the agent do TEXT, as the chat does, or run it if it is a /command.
With MEANT, a prefix argument, what looks like a command is sent, too."
  (interactive
   (list (read-string "Sidecar: " (and (use-region-p)
                                       (buffer-substring-no-properties
                                        (region-beginning) (region-end))))
         current-prefix-arg))
  (let ((command (and (not meant) (sidecar-composer-command text))))
    (if command (funcall command) (sidecar-chat--send text))))

(defun sidecar-chat--send (text)
  "Have the agent do TEXT, in a running turn or one of its own."
  (let* ((desk (sidecar-desk)) (along (sidecar-unseen-take desk)))
    (display-buffer (sidecar-chat-buffer desk))
    (sidecar-settle desk)
    (sidecar-request desk :session/prompt
                     `(:sessionId ,(sidecar-session desk)
                       :prompt [(:type "text" :text ,text) ,@(car along)] :steer t
                       :context (:openFiles ,(sidecar--open-files desk)))
                     (lambda (ended)
                       (sidecar--metered desk (plist-get ended :meter))
                       (sidecar-settle desk))
                     (lambda (words)
                       (funcall (cdr along))
                       (sidecar-chat--note desk words)
                       (message "%s" words)))))

;;; Parts

(defun sidecar-chat--note (desk words)
  "Add WORDS of the daemon's to the chat of DESK."
  (with-current-buffer (sidecar-chat-buffer desk)
    (sidecar-chat--grow (format "note %s" (buffer-size)) words 'sidecar-notice)))

(defun sidecar-chat--place (name)
  "Give the place of the part NAME, behind all others if it is new."
  (when-let ((hint (and (not (equal name "hint")) (gethash "hint" sidecar-chat--parts))))
    (let ((inhibit-read-only t))
      (delete-region (car hint) (1+ (cadr hint))))
    (remhash "hint" sidecar-chat--parts))
  (or (gethash name sidecar-chat--parts)
      (save-excursion
        (let ((inhibit-read-only t))
          (goto-char sidecar-chat--end)
          (insert (propertize "\n" 'read-only t))
          ;; The line's end stays behind the part, so that no two parts touch.
          (puthash name (list (copy-marker (1- (point))) (copy-marker (1- (point)) t))
                   sidecar-chat--parts)))))

(defmacro sidecar-chat--writing (name &rest body)
  "Do BODY at the end of the part NAME; what is at the prompt stays."
  (declare (indent 1) (debug t))
  `(let ((inhibit-read-only t) (place (sidecar-chat--place ,name)))
     (ignore place)
     (save-excursion
       (goto-char (cadr place))
       ,@body
       (add-text-properties (car place) (cadr place) '(read-only t front-sticky (read-only))))))

(defun sidecar-chat--grow (name text face &optional message)
  "Add TEXT to the part NAME in FACE; it is of the message MESSAGE."
  (sidecar-chat--writing name
    (insert (propertize text 'face face 'sidecar-message message))))

(defun sidecar-chat--answer (name text message)
  "Add TEXT to the answer NAME, of the message MESSAGE; faces come soon."
  (sidecar-chat--grow name text 'default message)
  (unless sidecar-chat--said
    (run-with-timer sidecar-chat--pause nil #'sidecar-chat--beautify (current-buffer)))
  (cl-pushnew name sidecar-chat--said :test #'equal))

(defun sidecar-chat--beautify (chat)
  "Put faces on what was said in CHAT since the last time, some at a time."
  (when (buffer-live-p chat)
    (with-current-buffer chat
      (let ((begun (float-time)) (took 0.0))
        (while (and sidecar-chat--said (< took 0.1))
          (when-let ((place (gethash (pop sidecar-chat--said) sidecar-chat--parts)))
            (with-demoted-errors "Sidecar: %S"
              (sidecar-markdown-fontify (car place) (cadr place))))
          (setq took (- (float-time) begun)))
        (setq sidecar-chat--pause (max 0.2 (* 4 took))))
      (when sidecar-chat--said
        (run-with-timer sidecar-chat--pause nil #'sidecar-chat--beautify chat)))))

(defun sidecar-chat--fold (label name)
  "Insert a button LABEL, to show and hide the part NAME."
  (let ((symbol (intern (concat "sidecar " name))))
    (unless (get symbol 'sidecar-known)
      (put symbol 'sidecar-known t)
      (add-to-invisibility-spec symbol))
    (insert-text-button label 'face 'sidecar-tool 'follow-link t
                        'help-echo "Show or hide what stands behind"
                        'action (lambda (_)
                                  (if (memq symbol buffer-invisibility-spec)
                                      (remove-from-invisibility-spec symbol)
                                    (add-to-invisibility-spec symbol))
                                  (force-window-update)))
    symbol))

(defun sidecar-chat--think (name text)
  "Add TEXT to the thinking NAME, which is folded."
  (let ((known (gethash name sidecar-chat--parts)))
    (sidecar-chat--writing name
      (let ((symbol (if known (nth 2 place) (sidecar-chat--fold "▸ Thinking" name))))
        (setf (nthcdr 2 place) (list symbol))
        (insert (propertize (if known text (concat "\n" text))
                            'face 'sidecar-thought 'invisible symbol))))))

(defun sidecar-chat--call (update)
  "Show the tool call in UPDATE."
  (let* ((name (plist-get update :toolCallId))
         (place (sidecar-chat--place name))
         (known (nth 2 place))
         (meta (plist-get (plist-get update :_meta) :sidecar)))
    (dolist (field '(:title :status :kind :rawOutput :locations))
      (when (plist-member update field)
        (setq known (plist-put known field (plist-get update field)))))
    (when (plist-get meta :outputDelta)
      (setq known (plist-put known :rawOutput (concat (plist-get known :rawOutput)
                                                      (plist-get meta :outputDelta)))))
    (dolist (field '(:diff :exitCode))
      (when (plist-get (plist-get meta :metadata) field)
        (setq known (plist-put known field (plist-get (plist-get meta :metadata) field)))))
    (setf (nthcdr 2 place) (list known))
    (sidecar-chat--writing name
      (delete-region (car place) (cadr place))
      (let* ((symbol (sidecar-chat--fold (sidecar-chat--title known) name))
             (text (format "\n%s" (or (plist-get known :diff) (plist-get known :rawOutput) "")))
             (tail (if (sidecar-chat--failed known)
                       (string-match "\\(?:\n.*\\)\\{0,10\\}\n*\\'" text)
                     (length text))))
        (put-text-property 0 tail 'invisible symbol text)
        (insert text))
      (seq-doseq (location (plist-get known :locations))
        (let ((path (plist-get location :path)))
          (insert " ")
          (insert-text-button "[open]" 'help-echo path 'follow-link t
                              'action (lambda (_)
                                        (find-file-other-window
                                         (sidecar--local path)))))))))

(defun sidecar-chat--title (call)
  "Give the line that stands for CALL."
  (format "%s %s" (pcase (plist-get call :status)
                    ((guard (sidecar-chat--failed call)) "✗")
                    ("completed" "✓") ("in_progress" "…") (_ "·"))
          (or (plist-get call :title) "tool")))

(defun sidecar-chat--failed (call)
  "Give whether CALL failed; a command with another code than 0 did."
  (or (equal (plist-get call :status) "failed")
      (not (memq (plist-get call :exitCode) '(nil 0)))))

(defun sidecar-copy ()
  "Copy the code here, else the whole answer, message or output."
  (interactive)
  (let ((place (seq-find (lambda (place) (<= (car place) (point) (cadr place)))
                         (hash-table-values sidecar-chat--parts))))
    (unless place (user-error "There is nothing to copy here"))
    (sidecar-markdown-copy (car place) (cadr place) (plist-get (nth 2 place) :rawOutput))))

(defun sidecar-chat--replace (name text face)
  "Let the part NAME be TEXT in FACE."
  (sidecar-chat--writing name
    (delete-region (car place) (cadr place))
    (insert (propertize text 'face face))))

;;; What the daemon tells

(defun sidecar-chat--told (desk what params)
  "Show in the chat of DESK what the daemon told: WHAT with PARAMS."
  (with-current-buffer (sidecar-chat-buffer desk)
    (pcase what
      ('clear (let ((typed (sidecar-chat-take desk nil)))
                (sidecar-chat--clear)
                (sidecar-chat-take desk typed)))
      ('retrying
       (seq-doseq (name (plist-get params :discard))
         (when (gethash name sidecar-chat--parts) (sidecar-chat--replace name "" nil)))
       (sidecar-chat--note
        desk (format "%s Trying again in %d s (%d of %d)."
                     (plist-get (plist-get params :error) :message)
                     (ceiling (plist-get params :delayMs) 1000)
                     (plist-get params :attempt) (plist-get params :maxAttempts))))
      ('update (sidecar-chat--update params)))))

(defun sidecar-chat--update (update)
  "Show UPDATE of the session."
  (let* ((meta (plist-get (plist-get update :_meta) :sidecar))
         (name (or (plist-get meta :partId) "")) (message (plist-get meta :messageId))
         (content (plist-get update :content))
         (text (and (listp content) (or (plist-get content :text) (sidecar-unseen-uri content)))))
    (pcase (plist-get update :sessionUpdate)
      ("user_message_chunk"
       (sidecar-chat--grow name (concat sidecar-chat--prompt text) 'sidecar-user message))
      ("agent_message_chunk" (sidecar-chat--answer name text message))
      ("agent_thought_chunk" (sidecar-chat--think name text))
      ((or "tool_call" "tool_call_update") (sidecar-chat--call update))
      ("plan"
       (sidecar-chat--replace
        "plan"
        (mapconcat (lambda (entry)
                     (format "%s %s" (if (equal (plist-get entry :status) "completed") "☑" "☐")
                             (plist-get entry :content)))
                   (plist-get update :entries) "\n")
        'default))
      ("notice" (sidecar-chat--grow (format "notice %s" (plist-get meta :seq))
                                    (plist-get update :message) 'sidecar-notice))
      ("turn_ended" (sidecar-chat--ended (format "end %s" (plist-get update :turnId)) update))
      ("compaction_update"
       (sidecar-chat--writing (format "compaction %s" (plist-get meta :seq))
         (insert (propertize (format "— %s (%s): %s to %s tokens —"
                                     (plist-get update :status) (plist-get update :cause)
                                     (plist-get update :tokensBefore)
                                     (plist-get update :tokensAfter))
                             'face 'sidecar-notice
                             'sidecar-compaction (plist-get update :compactionId))))))
    (sidecar-chat--name (or (plist-get update :toolCallId) name) (plist-get meta :partId))))

(defun sidecar-chat--name (place part)
  "Let what stands at PLACE be known as the session's PART, if it has one."
  (let ((found (and part (gethash place sidecar-chat--parts))) (inhibit-read-only t))
    (when found
      (put-text-property (car found) (cadr found) 'sidecar-part part))))

(defun sidecar-chat--ended (name ended)
  "Show as the part NAME how a turn ENDED, and what it took."
  (let* ((reason (plist-get ended :stopReason)) (usage (plist-get ended :usage))
         (requests (plist-get usage :requests))
         (cost (string-to-number (or (plist-get ended :cost) "0"))))
    (sidecar-chat--replace
     name
     (concat (if (equal reason "end_turn") "" (format "[%s] " reason))
             (format "— %d request%s · %d tokens" requests (if (= requests 1) "" "s")
                     (plist-get usage :totalTokens))
             (if (zerop cost) "" (format " · $%.4f" cost))
             " —"
             (if (plist-get ended :error)
                 (concat "\n" (plist-get (plist-get ended :error) :message))
               ""))
     (if (equal reason "end_turn") 'shadow 'sidecar-notice))))

(add-hook 'sidecar-update-functions #'sidecar-chat--told)

(provide 'sidecar-chat)
;;; sidecar-chat.el ends here
