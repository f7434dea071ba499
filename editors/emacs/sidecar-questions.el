;;; sidecar-questions.el --- What Sidecar's agent asks before it acts  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Parallel calls are asked about at the same time.  Each question is a part of the
;; chat, known by the id of its request: it shows the change or the whole command,
;; and its buttons answer it alone.  A change is shown in `diff-mode', too.  One that
;; is answered or withdrawn goes.

;;; Code:

(require 'cl-lib)
(require 'diff-mode)
(require 'json)
(require 'sidecar-chat)
(require 'sidecar-visible)

(cl-defstruct (sidecar-question (:constructor sidecar-question--make) (:copier nil))
  "A question that waits: the id of its request, what it asks, and who answers.
ABOUT is what the daemon lists of its session, if the chat has another."
  id params connection answer about)

(defvar-local sidecar-questions--waiting nil "The questions that wait, the oldest first.")

(defun sidecar-questions--name (key)
  "Give the name of KEY on one line, with what cannot be seen written out."
  ;; Emacs 28 leaves the bytes of a name as they came.
  (sidecar-visible-line (decode-coding-string (substring (symbol-name key) 1) 'utf-8)))

;;; What is shown

(defun sidecar-questions--elsewhere (question)
  "Give the session of QUESTION if this chat has another, else nil."
  (let ((session (plist-get (sidecar-question-params question) :sessionId)))
    (unless (equal session (sidecar-desk-session sidecar--desk)) session)))

(defun sidecar-questions--root (question)
  "Give the folder that the session of QUESTION works in."
  (or (and (sidecar-questions--elsewhere question)
           (plist-get (sidecar-question-about question) :cwd))
      (sidecar-desk-root sidecar--desk)))

(defun sidecar-questions--session (question)
  "Name the session of QUESTION and its folder if this chat has another."
  (let* ((session (sidecar-questions--elsewhere question))
         (about (sidecar-question-about question)) (title (or (plist-get about :title) "")))
    (cond ((not session) "")
          ((not (plist-get about :cwd)) (format "%s: " (sidecar-visible-line session)))
          (t (format "“%s” in %s: "
                     (sidecar-visible-line (if (string-empty-p title) session title))
                     (sidecar-visible-line (plist-get about :cwd)))))))

(defun sidecar-questions--learn (question)
  "Have the daemon say which session QUESTION is of, and show QUESTION anew."
  (let ((chat (current-buffer)) (session (sidecar-questions--elsewhere question)))
    (setf (sidecar-question-about question) '(:cwd nil))
    (sidecar-request
     sidecar--desk :session/list (make-hash-table)
     (lambda (found)
       (with-current-buffer chat
         (setf (sidecar-question-about question)
               (or (seq-find (lambda (one) (equal (plist-get one :sessionId) session))
                             (plist-get found :sessions))
                   '(:cwd nil)))
         (when (memq question sidecar-questions--waiting) (sidecar-questions--draw question))))
     #'ignore)))

(defun sidecar-questions--title (question)
  "Give what QUESTION is about, on one line, its session before where needed."
  (concat (sidecar-questions--session question) (sidecar-questions--call-title question)))

(defun sidecar-questions--call-title (question)
  "Give what the call of QUESTION is, on one line."
  (let* ((call (plist-get (sidecar-question-params question) :toolCall))
         (command (plist-get (plist-get call :rawInput) :command))
         (title (or (plist-get call :title) "A tool")))
    (sidecar-visible-line
     (if (and (stringp command) (string-match-p "\n" command))
         (concat (string-trim (string-remove-suffix command title)) " these lines")
       title))))

(defun sidecar-questions--lines (text sign face)
  "Give the lines of TEXT, each behind SIGN and in FACE."
  (mapconcat (lambda (line)
               (propertize (concat sign (sidecar-visible line) "\n") 'face face))
             (split-string (string-remove-suffix "\n" text) "\n") ""))

(defun sidecar-questions--hunk (block)
  "Give the diff in BLOCK: lines that stay, that go and that come."
  (let* ((texts (mapcar (lambda (key) (let ((text (plist-get block key)))
                                        (if (stringp text) (split-string text "\n") nil)))
                        '(:oldText :newText)))
         (old (car texts)) (new (cadr texts)) head tail)
    (while (and old new (equal (car old) (car new)))
      (push (pop old) head)
      (pop new))
    (setq old (reverse old) new (reverse new))
    (while (and old new (equal (car old) (car new)))
      (push (pop old) tail)
      (pop new))
    (cl-flet ((shown (lines sign face)
                (if lines (sidecar-questions--lines (string-join lines "\n") sign face) "")))
      (concat (shown (reverse head) " " 'diff-context)
              (shown (reverse old) "-" 'diff-removed)
              (shown (reverse new) "+" 'diff-added)
              (shown (if (equal tail '("")) nil tail) " " 'diff-context)))))

(defun sidecar-questions--changes (call)
  "Give the blocks of CALL that say what it would change, one for each hunk."
  (seq-filter (lambda (block) (equal (plist-get block :type) "diff"))
              (plist-get call :content)))

(defun sidecar-questions--diff (call root)
  "Give what CALL would change in files below the folder ROOT as one diff, or nil."
  (let (before)
    (mapconcat
     (lambda (block)
       (let* ((hunk (sidecar-questions--hunk block)) (path (plist-get block :path))
              (name (sidecar-visible-line
                     (string-remove-prefix (file-name-as-directory root) path)))
              (lines (split-string hunk "\n" t)))
         (concat
          (unless (equal path before)
            (setq before path)
            (if (stringp (plist-get block :oldText))
                (format "--- a/%s\n+++ b/%s\n" name name)
              (format "--- /dev/null\n+++ b/%s\n" name)))
          ;; On which lines it stands is not known.
          (format "@@ -1,%d +1,%d @@\n"
                  (seq-count (lambda (line) (not (string-prefix-p "+" line))) lines)
                  (seq-count (lambda (line) (not (string-prefix-p "-" line))) lines))
          hunk)))
     (sidecar-questions--changes call) "")))

(defun sidecar-questions--body (call)
  "Give what CALL would do: the diff, else the whole command and other input."
  (let ((given (plist-get call :rawInput))
        (hunks (sidecar-questions--changes call)))
    (cond
     (hunks (mapconcat #'sidecar-questions--hunk hunks "  ⋯\n"))
     ((and (consp given) (keywordp (car given)))
      (cl-loop for (name value) on given by #'cddr
               for text = (if (stringp value) value (json-encode value))
               concat (if (eq name :command)
                          (sidecar-questions--lines text "  $ " 'font-lock-string-face)
                        (concat (propertize (format "  %s:" (sidecar-questions--name name))
                                            'face 'shadow)
                                ;; No line of it passes for a name.
                                (if (string-match-p "\n" text)
                                    (concat "\n" (sidecar-questions--lines text "    " 'default))
                                  (sidecar-questions--lines text "  " 'default))))))
     (given (sidecar-questions--lines (json-encode given) "  " 'default))
     (t ""))))

(defun sidecar-questions--draw (question)
  "Show QUESTION behind all else in this chat, with a button for each option."
  (let* ((params (sidecar-question-params question)) (id (sidecar-question-id question))
         (call (plist-get params :toolCall)) (buffer (current-buffer))
         (why (plist-get (plist-get (plist-get call :_meta) :sidecar) :why)))
    (unless (or (sidecar-question-about question) (not (sidecar-questions--elsewhere question)))
      (sidecar-questions--learn question))
    (sidecar-chat--writing (format "question %s" id)
      (delete-region (car place) (cadr place))
      (insert (propertize (concat (sidecar-questions--title question) "\n") 'face 'sidecar-notice)
              (sidecar-questions--body call)
              (if why (sidecar-questions--lines why "  " 'shadow) ""))
      (seq-doseq (option (plist-get params :options))
        (insert-text-button (format "[%s]" (sidecar-visible-line (plist-get option :name)))
                            'follow-link t 'help-echo (sidecar-questions--title question)
                            'action (lambda (_) (sidecar-questions--choose buffer id option)))
        (insert " "))
      (when (sidecar-questions--changes call)
        (insert-text-button "[Diff]" 'follow-link t 'help-echo "Show the change in `diff-mode'"
                            'action (lambda (_) (sidecar-questions--show-diff buffer id))))
      (put-text-property (car place) (cadr place) 'sidecar-question id))))

;;; The change alone

(defvar sidecar-questions-diff-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "a") #'sidecar-answer)
    (define-key map (kbd "C-c C-a") #'sidecar-answer)
    (define-key map (kbd "q") #'quit-window)
    map)
  "Keys of a change that is asked about.")

(define-derived-mode sidecar-questions-diff-mode diff-mode "Sidecar Diff"
  "Mode of a change that is asked about.
\\{sidecar-questions-diff-mode-map}"
  ;; Nothing is read but what is asked about.
  (setq-local diff-font-lock-syntax 'hunk-only)
  ;; The end of a line is to be seen, too.
  (setq-local truncate-lines nil truncate-partial-width-windows nil)
  (setq buffer-read-only t))

(defvar-local sidecar-questions--shown nil "The question whose change this buffer shows.")

(defun sidecar-questions--diff-name (id)
  "Name the buffer for the change of the question ID."
  (format "*sidecar diff %s*" id))

(defun sidecar-questions--show-diff (chat id)
  "Show the change of the question ID of CHAT in a window, if it still waits."
  (let* ((desk (buffer-local-value 'sidecar--desk chat))
         (question (with-current-buffer chat (sidecar-questions--find id)))
         (root (and question (with-current-buffer chat (sidecar-questions--root question)))))
    (when question
      (with-current-buffer (get-buffer-create (sidecar-questions--diff-name id))
        (let ((inhibit-read-only t))
          (erase-buffer)
          (insert (sidecar-questions--diff
                   (plist-get (sidecar-question-params question) :toolCall) root))
          (sidecar-questions-diff-mode)
          (set-buffer-modified-p nil))
        (setq sidecar--desk desk
              sidecar-questions--shown id
              header-line-format
              (substitute-command-keys
               "\\<sidecar-questions-diff-mode-map>\\[sidecar-answer] answers, \\[quit-window] closes"))
        (sidecar-visible-lead root)
        (goto-char (point-min))
        (display-buffer (current-buffer))))))

;;; Asking and answering

(defun sidecar-questions--find (id)
  "Give the question ID of this chat that waits, or nil."
  (cl-find id sidecar-questions--waiting :key #'sidecar-question-id :test #'equal))

(defun sidecar-questions--take (desk what params)
  "Take WHAT the daemon of DESK has with PARAMS: a question, or the end of one."
  (with-current-buffer (sidecar-chat-buffer desk)
    (pcase what
      ('permission
       (let ((question (sidecar-question--make
                        :id (plist-get params :id) :params (plist-get params :ask)
                        :connection (sidecar-desk-connection desk)
                        :answer (plist-get params :answer))))
         (setq sidecar-questions--waiting (append sidecar-questions--waiting (list question)))
         (sidecar-questions--draw question)
         (message "Sidecar asks: %s (M-x sidecar-answer)" (sidecar-questions--title question))))
      ('withdrawn
       (when-let ((question (sidecar-questions--find params)))
         (sidecar-questions--answer question '(:outcome "cancelled"))))
      ('clear
       ;; A daemon that died asks nothing any more.
       (setq sidecar-questions--waiting
             (cl-remove (sidecar-desk-connection desk) sidecar-questions--waiting
                        :key #'sidecar-question-connection :test-not #'eq))
       (mapc #'sidecar-questions--draw sidecar-questions--waiting)))))

(defun sidecar-questions--answer (question outcome)
  "Answer QUESTION of this chat with OUTCOME, and take it away."
  (let* ((name (format "question %s" (sidecar-question-id question)))
         (place (gethash name sidecar-chat--parts)) (inhibit-read-only t))
    (setq sidecar-questions--waiting (delq question sidecar-questions--waiting))
    (when place
      (delete-region (car place) (1+ (cadr place)))
      (remhash name sidecar-chat--parts))
    (when-let ((diff (get-buffer (sidecar-questions--diff-name (sidecar-question-id question)))))
      (quit-windows-on diff t)
      (when (buffer-live-p diff) (kill-buffer diff)))
    (funcall (sidecar-question-answer question) (list :outcome outcome))))

(defun sidecar-questions--choose (buffer id option)
  "Answer the question ID of the chat in BUFFER with OPTION, if it still waits."
  (with-current-buffer buffer
    (let ((question (sidecar-questions--find id)))
      (if (not question)
          (message "Sidecar: this question is answered or withdrawn already")
        (sidecar-questions--answer
         question `(:outcome "selected" :optionId ,(plist-get option :optionId)))))))

(defun sidecar-questions--show (question)
  "Show QUESTION of this chat in a window, from its beginning if it is long."
  (let ((window (display-buffer (current-buffer)))
        (place (gethash (format "question %s" (sidecar-question-id question))
                        sidecar-chat--parts)))
    (when (and window place
               (not (and (pos-visible-in-window-p (car place) window)
                         (pos-visible-in-window-p (1- (cadr place)) window))))
      (set-window-start window (car place))
      (set-window-point window (car place)))))

(defun sidecar-questions--shown-in (question chat)
  "Give the window, if any, and the beginning and end of QUESTION of CHAT."
  (let* ((id (sidecar-question-id question))
         (diff (get-buffer (sidecar-questions--diff-name id)))
         (place (gethash (format "question %s" id)
                         (buffer-local-value 'sidecar-chat--parts chat))))
    (list (get-buffer-window (or diff chat) t)
          (if diff 1 (car place))
          (if diff (with-current-buffer diff (point-max)) (cadr place)))))

(defun sidecar-questions--left (window end)
  "Give where begins what WINDOW does not show before END, nil if nothing does."
  ;; Where Emacs has no screen, nothing is in sight.
  (unless (or noninteractive (pos-visible-in-window-p (1- end) window))
    (window-end window t)))

(defun sidecar-questions--turn (window from)
  "Have WINDOW show what begins at FROM, behind the line before."
  (with-selected-window window
    (let ((before (window-start)))
      (goto-char from)
      (vertical-motion -1)
      ;; A line may be higher than the window.
      (when (= (point) before) (goto-char from))
      (set-window-start window (point)))))

(defun sidecar-questions--options (question turn left)
  "Give the options of QUESTION by name, with TURN before, if any.
Those that allow are left out if there is something LEFT to read."
  (append
   (and turn (list (cons turn 'turn)))
   (cl-loop for option across (plist-get (sidecar-question-params question) :options)
            unless (and left (not (string-prefix-p "reject" (plist-get option :kind))))
            collect (cons (sidecar-visible-line (plist-get option :name)) option))))

(defun sidecar-questions--choice (question chat &optional turned)
  "Ask for an option of QUESTION of CHAT, of which pages were TURNED.
Those that allow come once it has been shown to its end."
  (cl-destructuring-bind (window start end) (sidecar-questions--shown-in question chat)
    (let* ((left (and window end (sidecar-questions--left window end)))
           ;; Whoever turns pages by one key allows nothing by it.
           (turn (cond (left "Read on") (turned "Read again")))
           (options (sidecar-questions--options question turn left))
           (title (truncate-string-to-width (sidecar-questions--title question) 120 nil nil t))
           (waiting (length (buffer-local-value 'sidecar-questions--waiting chat)))
           (name (minibuffer-with-setup-hook
                     (lambda ()
                       ;; What is chosen from may have covered some of it.
                       (add-hook 'minibuffer-exit-hook
                                 (lambda ()
                                   (when (and window end)
                                     (setq left (sidecar-questions--left window end))))
                                 nil t))
                   (completing-read
                    (format "%s%s%s — " title (if (> waiting 1) (format " (1 of %d)" waiting) "")
                            (if left ", more below" ""))
                    options nil t nil nil turn)))
           (option (cdr (or (assoc name options)
                            (user-error "Nothing is answered: choose one of %s"
                                        (mapconcat #'car options ", "))))))
      (if (not (or (eq option 'turn)
                   (and left (not (string-prefix-p "reject" (plist-get option :kind))))))
          option
        (sidecar-questions--turn window (or left start))
        (sidecar-questions--choice question chat t)))))

(defun sidecar-answer ()
  "Show and answer the question at point, else the oldest that waits."
  (interactive)
  (let ((here (or sidecar-questions--shown (get-text-property (point) 'sidecar-question)))
        (chat (sidecar-chat-buffer (sidecar-desk))))
    (with-current-buffer chat
      (let* ((question (or (and here (sidecar-questions--find here))
                           (car sidecar-questions--waiting)
                           (user-error "Sidecar asks nothing")))
             (id (sidecar-question-id question)))
        (if (sidecar-questions--changes (plist-get (sidecar-question-params question) :toolCall))
            (sidecar-questions--show-diff chat id)
          (sidecar-questions--show question))
        (sidecar-questions--choose chat id (sidecar-questions--choice question chat))))))

;; After the chat, which is emptied first.
(add-hook 'sidecar-update-functions #'sidecar-questions--take t)

(provide 'sidecar-questions)
;;; sidecar-questions.el ends here
