;;; emacs_scenario.el --- A user's day with Sidecar in Emacs  -*- lexical-binding: t; -*-

;;; Commentary:

;; Run by test_emacs.py, in `emacs --batch' with an empty workspace's files as
;; `default-directory'.  Commands are given as keys, as a user types them.

;;; Code:

(require 'sidecar)

(defvar scenario-grown nil "What the chat said, each time that an answer grew.")

(defun scenario-want (what found)
  "Wait for FOUND to give something, and give it; WHAT is said if it does not."
  (let ((until (+ (float-time) 40)) value)
    (while (not (or (setq value (funcall found)) (> (float-time) until)))
      (accept-process-output nil 0.02))
    (unless value
      (error "Not seen: %s\nmode line: %s\nchat:\n%s" what (sidecar-mode-line)
             (scenario-chat)))
    (princ (format "ok %s\n" what))
    value))

(defun scenario-check (what value)
  "Fail with WHAT unless VALUE."
  (scenario-want what (lambda () value)))

(defun scenario-chat ()
  "Give what the chat says."
  (with-current-buffer (sidecar-chat-buffer (sidecar-desk))
    (buffer-substring-no-properties (point-min) (point-max))))

(defun scenario-used ()
  "Give the tokens in the context, as the meter has them."
  (plist-get (sidecar-desk-meter (sidecar-desk)) :used))

(defun scenario-disk (name)
  "Give what the file NAME says."
  (with-temp-buffer (insert-file-contents name) (buffer-string)))

(defun scenario-keys (keys)
  "Type KEYS."
  (execute-kbd-macro (kbd keys)))

(defun scenario-type (command text)
  "Give the COMMAND with TEXT as its answer."
  (execute-kbd-macro (vconcat (kbd (format "M-x %s RET" command)) text (kbd "RET"))))

(defun scenario-ends ()
  "Give how many turns have ended, as the chat shows it."
  (let ((chat (scenario-chat)) (from 0) (count 0))
    (while (string-match "What the tools said" chat from)
      (setq from (match-end 0) count (1+ count)))
    count))

(defun scenario-say (text)
  "Have the agent do TEXT and wait until it has."
  (let ((before (scenario-ends)))
    (scenario-type "sidecar-send" text)
    (scenario-want (concat "a turn: " text)
                   (lambda () (and (> (scenario-ends) before)
                                   (not (sidecar-desk-busy (sidecar-desk))))))))

(defun scenario-open ()
  "Open the folder, and see the meter."
  (switch-to-buffer (find-file-noselect "notes.txt"))
  (scenario-keys "M-x sidecar-mode RET")
  (scenario-want "the meter" (lambda () (string-match-p "[0-9]%% [0-9.k]+/192k"
                                                        (sidecar-mode-line))))
  (scenario-want "the session" (lambda () (sidecar-desk-open (sidecar-desk))))
  (scenario-check "its colour" (eq (get-text-property 1 'face (sidecar-mode-line))
                                   'sidecar-green)))

(defun scenario-first ()
  "All that is seen in one Emacs."
  (scenario-open)
  (scenario-turn)
  (scenario-dirty)
  (scenario-permission)
  (scenario-compaction)
  (scenario-rollback)
  (scenario-killed)
  (scenario-others)
  (princ (format "session %s\n" (sidecar-desk-session (sidecar-desk)))))

(defun scenario-turn ()
  "A turn that streams, moves the meter and edits an open buffer."
  (let ((used (scenario-used)) (grown 0))
    (let ((watch (lambda (_ what update)
                   (when (and (eq what 'update)
                              (equal (plist-get update :sessionUpdate) "agent_message_chunk"))
                     (setq grown (1+ grown))))))
      (add-hook 'sidecar-update-functions watch t)
      (scenario-say "replace `alpha` with `ALPHA` in notes.txt")
      (remove-hook 'sidecar-update-functions watch))
    (scenario-check "text that streams" (> grown 3))
    (scenario-want "the meter moved" (lambda () (> (scenario-used) used))))
  (scenario-check "the edit in the buffer" (string-match-p "ALPHA" (buffer-string)))
  (scenario-want "the file agrees" (lambda () (equal (scenario-disk "notes.txt")
                                                     (buffer-string))))
  (scenario-want "the buffer is not modified" (lambda () (not (buffer-modified-p))))
  (scenario-check "the call's status" (string-match-p "✓ .*notes.txt" (scenario-chat)))
  (scenario-keys "M-x undo RET")
  (scenario-check "undo takes the edit back" (string-match-p "alpha" (buffer-string)))
  (revert-buffer t t t)
  (with-current-buffer (sidecar-chat-buffer (sidecar-desk))
    (goto-char (point-min))
    (search-forward "My rules")
    (scenario-check "thinking is folded" (invisible-p (point)))
    (search-backward "Thinking")
    (push-button (point))
    (search-forward "My rules")
    (scenario-check "thinking unfolds" (not (invisible-p (point))))))

(defun scenario-dirty ()
  "What is not saved is known."
  (switch-to-buffer (find-file-noselect "main.py"))
  (scenario-check "the other file joins" sidecar-mode)
  (goto-char (point-max))
  (insert "unsaved = 'words'\n")
  (scenario-say "read main.py")
  (scenario-check "unsaved text is read" (string-match-p "unsaved = 'words'" (scenario-chat)))
  (scenario-say "replace `unsaved` with `seen` in main.py")
  (scenario-want "an unsaved buffer is edited"
                 (lambda () (string-match-p "seen = 'words'" (buffer-string))))
  (scenario-check "and stays unsaved" (buffer-modified-p))
  (let ((inhibit-message t)) (save-buffer)))

(defun scenario-permission ()
  "What must be asked is asked."
  (scenario-type "sidecar-send" "run `echo made > made.txt`")
  (scenario-want "a question" (lambda () (string-match-p "\\[Allow once\\]" (scenario-chat))))
  (scenario-type "sidecar-answer" "Allow once")
  (scenario-want "what was allowed" (lambda () (file-exists-p "made.txt")))
  (scenario-want "the end of the turn"
                 (lambda () (not (sidecar-desk-busy (sidecar-desk))))))

(defun scenario-compaction ()
  "The meter falls when the context is compacted, and rises when that is taken back."
  (dotimes (_ 3) (scenario-say "read long.txt"))
  (let ((used (scenario-used)))
    (scenario-keys "M-x sidecar-compact RET names RET n")
    (scenario-check "a plan is shown, with who writes the summary"
                    (with-current-buffer "*sidecar plan*"
                      (string-match-p "^summary: extension offline$" (buffer-string))))
    (scenario-check "nothing was done" (= used (scenario-used)))
    (scenario-keys "M-x sidecar-compact RET RET y")
    (scenario-want "the meter fell" (lambda () (< (scenario-used) used)))
    (scenario-keys "M-x sidecar-undo-compaction RET")
    (scenario-want "the meter is back" (lambda () (= (scenario-used) used)))
    (scenario-keys "M-x sidecar-compact RET RET y")
    (scenario-want "the meter fell again" (lambda () (< (scenario-used) used)))))

(defun scenario-taken-back ()
  "A compaction of before the daemon died is taken back where it stands."
  (let ((used (scenario-used)))
    (with-current-buffer (sidecar-chat-buffer (sidecar-desk))
      (goto-char (point-max))
      (search-backward "— completed (user)")
      (sidecar-undo-compaction))
    (scenario-want "the meter rose" (lambda () (> (scenario-used) used)))))

(defun scenario-rollback ()
  "Work by hand is in the way, is merged, and everything comes back."
  (scenario-say "replace `beta` with `BETA` in notes.txt")
  (switch-to-buffer "notes.txt")
  (goto-char (point-max))
  (insert "mine\n")
  (let ((inhibit-message t)) (save-buffer))
  (let ((both (buffer-string)))
    (scenario-keys "M-x sidecar-rollback RET 1. TAB RET RET cancel RET")
    (scenario-check "nothing was touched" (equal (scenario-disk "notes.txt") both))
    (with-current-buffer "*sidecar rollback*"
      (scenario-check "a preview with a conflict"
                      (string-match-p "notes.txt conflicts" (buffer-string)))
      (scenario-check "no lock of Emacs in it" (not (string-match-p "\\.#" (buffer-string))))
      (scenario-check "a preview with diffs" (string-match-p "^\\+mine" (buffer-string))))
    (switch-to-buffer "notes.txt")
    (scenario-keys "M-x sidecar-rollback RET 1. TAB RET RET merge RET")
    (scenario-want "the file is merged" (lambda () (equal (scenario-disk "notes.txt")
                                                          "ALPHA\nbeta\ngamma\nmine\n")))
    (switch-to-buffer "notes.txt")
    (scenario-want "the buffer too" (lambda () (string-match-p "\nbeta" (buffer-string))))
    (scenario-want "the prompt is back in the input"
                   (lambda () (string-match-p "› replace `beta` with `BETA` in notes.txt\\'"
                                              (scenario-chat))))
    (sidecar-chat-take (sidecar-desk) "")
    (scenario-keys "M-x sidecar-redo RET apply RET")
    (scenario-want "everything came back" (lambda () (equal (scenario-disk "notes.txt") both)))
    (scenario-want "the turn is in the chat again"
                   (lambda () (string-match-p "replace `beta`" (scenario-chat))))
    (scenario-check "an empty plan has its reason"
                    (equal (condition-case said (sidecar-redo) (user-error (cadr said)))
                           "Sidecar: nothing was restored that could be taken back"))))

(defun scenario-killed ()
  "The daemon dies, and comes back with its session."
  (let* ((desk (sidecar-desk)) (session (sidecar-desk-session desk))
         (process (jsonrpc--process (sidecar-desk-connection desk)))
         (pid (plist-get (sidecar-call desk :daemon/status) :pid)))
    ;; Of one that windows share, this Emacs's own process is not the daemon's.
    (scenario-check "whose daemon" (eq (= pid (process-id process))
                                       (not (equal (getenv "CI") "false"))))
    (signal-process pid 'SIGKILL)
    (scenario-want "the daemon is dead" (lambda () (not (process-live-p process))))
    (scenario-want "the daemon is back" (lambda () (and (sidecar--alive desk) (sidecar-desk-open desk)
                                                        (sidecar-desk-meter desk))))
    (scenario-want "the conversation is back"
                   (lambda () (string-match-p "replace `beta`" (scenario-chat))))
    (scenario-check "the same session" (equal session (sidecar-desk-session desk)))
    (scenario-costs)
    (scenario-taken-back)
    (scenario-say "list files")))

(defun scenario-revision ()
  "Give the session's revision."
  (plist-get (sidecar-call (sidecar-desk) :context/meter) :revision))

(defun scenario-option (id)
  "Give the value of the session's option ID."
  (plist-get (seq-find (lambda (one) (equal (plist-get one :id) id))
                       (sidecar-desk-options (sidecar-desk)))
             :currentValue))

(defun scenario-kept ()
  "A piece is kept and let go, from the chat and by name; the policy is another."
  (let ((before (scenario-revision)) (desk (sidecar-desk)))
    (switch-to-buffer (sidecar-chat-buffer (sidecar-desk)))
    (goto-char (point-min))
    (search-forward "What the tools said")
    (scenario-keys "M-x sidecar-pin RET")
    (scenario-check "what is here is kept" (= (scenario-revision) (1+ before)))
    (switch-to-buffer "notes.txt")
    (scenario-keys "M-x sidecar-unpin RET 1. TAB RET")
    (scenario-check "another was not kept" (= (scenario-revision) (1+ before)))
    (switch-to-buffer (sidecar-chat-buffer (sidecar-desk)))
    (search-backward "✓")
    (scenario-keys "M-x sidecar-pin RET")
    (scenario-keys "M-x sidecar-unpin RET")
    (scenario-check "a call is kept and let go" (= (scenario-revision) (+ before 3)))
    (switch-to-buffer "*sidecar context*")
    (goto-char (next-single-property-change (point-min) 'sidecar-part))
    (scenario-keys "M-x sidecar-pin RET")
    (scenario-check "a line of the context is kept" (= (scenario-revision) (+ before 4)))
    (switch-to-buffer "notes.txt")
    (scenario-type "sidecar-switch-policy" "manual")
    (scenario-check "another policy" (equal (scenario-option "policy") "manual"))
    (scenario-keys "M-x sidecar-switch-model RET RET")
    (scenario-check "the same model" (equal (scenario-option "model") "offline"))
    (condition-case nil
        (scenario-keys "M-x sidecar-switch-model RET claude- TAB TAB C-g")
      (quit nil))
    (scenario-check "models with prices"
                    (with-current-buffer "*Completions*"
                      (string-match-p "claude-haiku-5-5 .*1M tokens .* cached" (buffer-string))))))

(defun scenario-others ()
  "The other commands."
  (scenario-keys "M-x sidecar-context RET")
  (with-current-buffer "*sidecar context*"
    (scenario-check "what fills the context" (string-match-p "toolResults" (buffer-string)))
    (scenario-check "tools by server" (string-match-p "^ +[0-9]+  of notes$" (buffer-string))))
  (scenario-kept)
  (scenario-keys "M-x sidecar-log RET")
  (switch-to-buffer "notes.txt")
  (let* ((desk (sidecar-desk)) (first nil))
    (scenario-keys "M-x sidecar-fork RET")
    (scenario-want "a fork" (lambda () (and (sidecar-desk-open desk)
                                            (string-match-p "list files" (scenario-chat)))))
    (scenario-type "sidecar-handoff" "finish it")
    (scenario-want "a handoff"
                   (lambda () (and (sidecar-desk-open desk)
                                   (not (string-match-p "list files" (scenario-chat))))))
    (setq first (sidecar-desk-session desk))
    (scenario-keys "M-x sidecar-new RET")
    (scenario-want "a new session"
                   (lambda () (and (not (equal (sidecar-desk-session desk) first))
                                   (sidecar-desk-open desk))))
    (scenario-type "sidecar-send" "run `sleep 60`")
    (scenario-want "another question" (lambda () (string-match-p "\\[Allow once\\]"
                                                                 (scenario-chat))))
    (scenario-keys "M-x sidecar-cancel RET")
    (scenario-want "a turn that was cancelled"
                   (lambda () (string-match-p "\\[cancelled\\]" (scenario-chat))))
    (scenario-want "the question is gone"
                   (lambda () (not (string-match-p "\\[Allow once\\]" (scenario-chat)))))
    (scenario-say "read notes.txt"))
  (scenario-understood))

(defun scenario-moving ()
  "A session is written to a file, and taken in again."
  (scenario-open)
  (scenario-say "list files")
  (let* ((desk (sidecar-desk)) (first (sidecar-desk-session desk))
         (file (expand-file-name "moved.sidecar")))
    (sidecar-export file)
    (scenario-check "a file" (> (file-attribute-size (file-attributes file)) 100))
    (sidecar-import file)
    (scenario-want "another session"
                   (lambda () (and (not (equal (sidecar-desk-session desk) first))
                                   (sidecar-desk-open desk)
                                   (string-match-p "list files" (scenario-chat)))))
    (scenario-say "read notes.txt")
    (scenario-synced desk)
    (scenario-archived desk)
    (scenario-not-here desk)
    (scenario-found desk)
    (scenario-understood)
    (princ (format "session %s\n" (sidecar-desk-session desk)))))

(defun scenario-found (desk)
  "The session of DESK has another title, and is found by it and by its words."
  (let ((found (sidecar-desk-session desk)))
    (scenario-type "sidecar-rename" "Some renamed work")
    (scenario-check "it is renamed"
                    (equal (plist-get (aref (plist-get (sidecar-call desk :session/list :cwd
                                                                     (sidecar-desk-root desk))
                                                       :sessions)
                                            0)
                                      :title)
                           "Some renamed work"))
    (scenario-keys "M-x sidecar-new RET")
    (scenario-want "another one" (lambda () (and (not (equal found (sidecar-desk-session desk)))
                                                 (sidecar-desk-open desk))))
    (scenario-check "what is nowhere is not found"
                    (condition-case said (sidecar-search "nowhere_to_be")
                      (user-error (string-match-p "No session has" (cadr said)))))
    (let* ((lines (sidecar-search--lines desk "renamed read_file" nil))
           (all (sidecar-search--lines desk "read_file notes.txt" nil))
           (mine (seq-find (lambda (line) (string-match-p "Some renamed work  tool: " (car line)))
                           all)))
      (scenario-check "words of two texts are not found" (null lines))
      (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) (car mine))))
        (sidecar-search "read_file notes.txt"))
      (scenario-want "the match"
                     (lambda () (and (equal found (sidecar-desk-session desk))
                                     (sidecar-desk-open desk)
                                     (with-current-buffer (sidecar-chat-buffer desk)
                                       (equal (get-text-property (point) 'sidecar-part)
                                              (plist-get (cddr mine) :partId)))))))))

(defun scenario-synced (desk)
  "The sessions of DESK go to a git remote once that is agreed to."
  (let ((remote (concat (make-temp-file "remote" t) "/sessions.git")))
    (call-process "git" nil nil nil "init" "--quiet" "--bare" remote)
    (cl-letf (((symbol-function 'yes-or-no-p) (lambda (&rest _) nil)))
      (sidecar-sync remote))
    (cl-flet ((there () (append (plist-get (sidecar-call desk :session/listRemote
                                                         :cwd (sidecar-desk-root desk)
                                                         :remote remote)
                                           :sessions)
                                nil)))
      (scenario-check "nothing is sent unless that is agreed to" (null (there)))
      (cl-letf (((symbol-function 'yes-or-no-p) (lambda (&rest _) t)))
        (sidecar-sync remote))
      (let ((one (seq-find (lambda (one) (equal (plist-get one :sessionId)
                                                (sidecar-desk-session desk)))
                           (there))))
        (scenario-check "what was sent lies there" one)
        (cl-letf (((symbol-function 'completing-read)
                   (lambda (_ table &rest _)
                     (seq-find (lambda (line) (string-match-p (plist-get one :name) line))
                               (all-completions "" table)))))
          (sidecar-open-from-elsewhere remote))
        (scenario-want "the same session" (lambda () (and (equal (plist-get one :sessionId)
                                                                 (sidecar-desk-session desk))
                                                          (sidecar-desk-open desk))))))))

(defun scenario-archived (desk)
  "The session of DESK is put away, and taken back; one that works is not."
  (let ((away (sidecar-desk-session desk)) file)
    (scenario-keys "M-x sidecar-archive RET n")
    (scenario-check "it stays where nothing was answered" (equal away (sidecar-desk-session desk)))
    (scenario-type "sidecar-send" "run `sleep 60`")
    (scenario-want "a question" (lambda () (string-match-p "\\[Allow once\\]" (scenario-chat))))
    (scenario-check "one that works is refused"
                    (condition-case said
                        (progn (sidecar-call desk :session/archive) nil)
                      (user-error (string-match-p "wait for its end" (cadr said)))))
    (scenario-keys "M-x sidecar-cancel RET")
    (scenario-want "it is cancelled" (lambda () (not (sidecar-desk-busy desk))))
    (scenario-keys "M-x sidecar-archive RET y")
    (scenario-want "another session begins"
                   (lambda () (and (not (equal away (sidecar-desk-session desk)))
                                   (sidecar-desk-open desk))))
    (setq file (car (directory-files-recursively (getenv "SIDECAR_DATA_DIR")
                                                 (concat away ".*\\.sidecar\\'"))))
    (scenario-check "it is in a file" file)
    (sidecar-import file)
    (scenario-want "it is back under its own id"
                   (lambda () (and (equal away (sidecar-desk-session desk))
                                   (sidecar-desk-open desk)
                                   (string-match-p "read notes.txt" (scenario-chat)))))))

(defun scenario-not-here (desk)
  "The session of DESK, put away, goes back to its own folder, not to the one that asks."
  (let ((away (sidecar-desk-session desk)) file said)
    (scenario-keys "M-x sidecar-archive RET y")
    (setq file (car (directory-files-recursively (getenv "SIDECAR_DATA_DIR")
                                                 (concat away ".*\\.sidecar\\'"))))
    (make-directory "other")
    (write-region "" nil "other/there.txt" nil 'quiet)
    (find-file "other/there.txt")
    (scenario-keys "M-x sidecar-mode RET")
    (let ((there (sidecar-desk)))
      (scenario-check "another folder" (not (eq desk there)))
      (scenario-want "its session" (lambda () (sidecar-desk-open there)))
      (cl-letf (((symbol-function 'message)
                 (lambda (words &rest given) (setq said (apply #'format words given)))))
        (sidecar-import file))
      (scenario-check "it says where it is" (string-search "open it there" said))
      (scenario-check "it is not opened" (not (equal away (sidecar-desk-session there))))
      (sidecar-stop there))
    (kill-buffer)
    (switch-to-buffer "notes.txt")
    (sidecar-switch desk away)
    (scenario-want "it is where it was"
                   (lambda () (and (sidecar-desk-open desk)
                                   (string-match-p "read notes.txt" (scenario-chat)))))))

(defun scenario-button (text &optional from)
  "Give the action of the button TEXT of the chat, behind FROM."
  (with-current-buffer (sidecar-chat-buffer (sidecar-desk))
    (goto-char (point-min))
    (search-forward (or from text))
    (when from (search-forward text))
    (let ((action (button-get (button-at (1- (point))) 'action)))
      (lambda () (funcall action nil)))))

(defun scenario-stale (press)
  "Check that the button PRESS answers nothing any more, and says so."
  (let (said)
    (cl-letf (((symbol-function 'message)
               (lambda (words &rest given) (setq said (apply #'format words given)))))
      (funcall press))
    (scenario-check "a button of an answered question says so"
                    (string-search "answered or withdrawn already" said))))

(defun scenario-asked (&rest texts)
  "Wait until the chat asks a question for each of TEXTS and has no other."
  (scenario-want (format "questions: %S" texts)
                 (lambda ()
                   (and (cl-every (lambda (text) (string-search text (scenario-chat))) texts)
                        (= (length texts) (how-many-in-chat "\\[Allow once\\]"))))))

(defun how-many-in-chat (pattern)
  "Count what matches PATTERN in the chat."
  (with-current-buffer (sidecar-chat-buffer (sidecar-desk))
    (how-many pattern (point-min) (point-max))))

(defun scenario-buffers (pattern)
  "Give the buffers whose names match PATTERN."
  (seq-filter (lambda (buffer) (string-match-p pattern (buffer-name buffer))) (buffer-list)))

(defun scenario-both (letter)
  "Have two commands asked about at the same time: they write LETTER1 and LETTER2."
  (scenario-type
   "sidecar-send"
   (format "call shell {\"command\": \"echo 1 > %s1\"} and shell {\"command\": \"echo 2 > %s2\"}"
           letter letter))
  (scenario-asked (format "echo 1 > %s1" letter) (format "echo 2 > %s2" letter)))

(defun scenario-idle ()
  "Wait for the end of the turn."
  (scenario-want "the end of the turn" (lambda () (not (sidecar-desk-busy (sidecar-desk))))))

(defun scenario-questions ()
  "Each button answers its own question, in either order, and shows what it is about."
  (setq sidecar-options
        '(:model "offline" :workspaceTrusted t :permissions (:allow ["shell:find *"])))
  (scenario-open)
  ;; The second first.
  (scenario-both "a")
  (let ((second (scenario-button "[Allow once]" "$ echo 2 > a2")))
    (funcall second)
    (scenario-asked "$ echo 1 > a1")
    (scenario-want "the second ran" (lambda () (file-exists-p "a2")))
    (scenario-stale second)
    (scenario-asked "$ echo 1 > a1"))
  (scenario-check "the first did not" (not (file-exists-p "a1")))
  (funcall (scenario-button "[Reject]" "$ echo 1 > a1"))
  (scenario-idle)
  (scenario-check "the first was rejected" (not (file-exists-p "a1")))
  ;; The first first.
  (scenario-both "b")
  (funcall (scenario-button "[Reject]" "$ echo 1 > b1"))
  (scenario-asked "$ echo 2 > b2")
  (funcall (scenario-button "[Allow once]" "$ echo 2 > b2"))
  (scenario-want "the second ran" (lambda () (file-exists-p "b2")))
  (scenario-idle)
  (scenario-check "the first did not" (not (file-exists-p "b1")))
  ;; By keys: the oldest, or the one at point.
  (scenario-both "c")
  (with-current-buffer (sidecar-chat-buffer (sidecar-desk))
    (switch-to-buffer (current-buffer))
    (goto-char (point-min))
    (search-forward "$ echo 2 > c2"))
  (scenario-type "sidecar-answer" "Allow once")
  (scenario-asked "$ echo 1 > c1")
  (switch-to-buffer "notes.txt")
  (scenario-type "sidecar-answer" "Reject")
  (scenario-want "the one at point ran" (lambda () (file-exists-p "c2")))
  (scenario-idle)
  (scenario-check "the oldest was rejected" (not (file-exists-p "c1")))
  (scenario-shown)
  (scenario-elsewhere)
  (princ "done\n"))

(defun scenario-another ()
  "Begin another session."
  (let* ((desk (sidecar-desk)) (before (sidecar-desk-session desk)))
    (scenario-keys "M-x sidecar-new RET")
    (scenario-want "another session"
                   (lambda () (and (not (equal before (sidecar-desk-session desk)))
                                   (sidecar-desk-open desk))))))

(defun scenario-elsewhere ()
  "A question of a session that the chat does not show names that and its folder."
  (switch-to-buffer "notes.txt")
  (scenario-another)
  (scenario-type "sidecar-rename" "Two \u202ecommands")
  (scenario-type "sidecar-send" "run `echo 1 > e1` then run `echo 2 > e2`")
  (scenario-asked "\nRun echo 1 > e1\n  $ echo 1")
  (scenario-another)
  (let ((named (format "“Two \\u{202e}commands” in %s: Run echo " (directory-file-name
                                                                 (file-truename "."))))
        (desk (sidecar-desk)) said)
    (scenario-asked (concat named "1 > e1\n  $ echo 1 > e1\n"))
    (cl-letf (((symbol-function 'message)
               (lambda (words &rest given) (setq said (apply #'format words given)))))
      (funcall (scenario-button "[Allow once]"))
      (scenario-asked (concat named "2 > e2\n  $ echo 2 > e2\n")))
    (scenario-check "what is said of it" (string-match-p "asks: .*: Run echo 2" said))
    (funcall (scenario-button "[Reject]"))
    (scenario-want "what was allowed ran" (lambda () (file-exists-p "e1")))
    (scenario-idle)
    (scenario-check "what was not did not" (not (file-exists-p "e2")))
    (cl-letf (((symbol-function 'completing-read)
               (lambda (_ table &rest _)
                 (seq-find (lambda (line) (string-search "Two \\u{202e}commands  1 turns" line))
                           (all-completions "" table)))))
      (call-interactively #'sidecar-sessions))
    (scenario-want "the session that was chosen"
                   (lambda () (and (sidecar-desk-open desk)
                                   (string-search "run `echo 1 > e1` then" (scenario-chat)))))))

(defun scenario-shown ()
  "A question shows the change, or the whole command and what is hidden in it."
  (scenario-type "sidecar-send" "replace `beta` with `better` in notes.txt")
  (scenario-asked "Edit notes.txt\n alpha\n-beta\n+better\n gamma\n")
  (funcall (scenario-button "[Diff]"))
  (let ((diff (car (scenario-buffers "\\`\\*sidecar diff "))))
    (with-current-buffer diff
      (scenario-check
       "the change as a diff"
       (equal (buffer-substring-no-properties (point-min) (point-max))
              (concat "--- a/notes.txt\n+++ b/notes.txt\n@@ -1,3 +1,3 @@\n"
                      " alpha\n-beta\n+better\n gamma\n")))
      (scenario-check "it is diff-mode" (derived-mode-p 'diff-mode))
      (goto-char (point-min))
      (diff-hunk-next)
      (diff-goto-source)
      (scenario-check "it leads to the file" (equal (buffer-name) "notes.txt")))
    (switch-to-buffer diff)
    (scenario-keys "a Reject RET")
    (scenario-check "the diff goes with its question" (not (buffer-live-p diff))))
  (scenario-idle)
  ;; From a diff its own question is answered, wherever point is.
  (scenario-type "sidecar-send"
                 (concat "call write_file {\"path\": \"e1.txt\", \"content\": \"1\\n\"} and "
                         "write_file {\"path\": \"e2.txt\", \"content\": \"2\\n\"}"))
  (scenario-asked "+1\n" "+2\n")
  (funcall (scenario-button "[Diff]" "+2\n"))
  (switch-to-buffer (car (scenario-buffers "\\`\\*sidecar diff ")))
  (scenario-check "a new file" (equal (buffer-substring-no-properties (point-min) (point-max))
                                      "--- /dev/null\n+++ b/e2.txt\n@@ -1,0 +1,1 @@\n+2\n"))
  (goto-char (point-max))
  (scenario-keys "a Allow SPC once RET")
  (scenario-asked "+1\n")
  (scenario-want "the second is there" (lambda () (file-exists-p "e2.txt")))
  (funcall (scenario-button "[Reject]"))
  (scenario-idle)
  (scenario-check "the first is not" (not (file-exists-p "e1.txt")))
  (scenario-type "sidecar-send"
                 (concat "call shell {\"command\": \"echo \\u202e safe\\necho "
                         (make-string 300 ?x) " \\u001b[8m\"}"))
  (scenario-asked (concat "  $ echo \\u{202e} safe\n  $ echo " (make-string 300 ?x)
                          " \\u{1b}[8m\n"))
  (funcall (scenario-button "[Reject]"))
  (scenario-idle)
  (scenario-type "sidecar-send" "run `find . -delete -name none`")
  (scenario-asked "  $ find . -delete -name none\n  the rule shell:find * does not cover it")
  (funcall (scenario-button "[Reject]"))
  (scenario-idle)
  (scenario-type "sidecar-send" "call shell {\"command\": \"echo \\u202e safe\"}")
  ;; The chat shown anew has the question still.
  (sidecar-switch (sidecar-desk) (sidecar-desk-session (sidecar-desk)))
  (scenario-want "the chat anew" (lambda () (sidecar-desk-open (sidecar-desk))))
  (scenario-asked "echo \\u{202e} safe")
  (scenario-both-withdrawn))

(defun scenario-both-withdrawn ()
  "Questions of a turn that is cancelled go, and their buttons say so."
  (let ((allow (scenario-button "[Allow once]")))
    (scenario-keys "M-x sidecar-cancel RET")
    (scenario-asked)
    (scenario-idle)
    (scenario-stale allow))
  (scenario-check "nothing is asked" (condition-case nil (progn (sidecar-answer) nil)
                                       (user-error t)))
  (scenario-both "d")
  (scenario-keys "M-x sidecar-cancel RET")
  (scenario-asked)
  (scenario-idle)
  (scenario-check "nothing ran" (not (or (file-exists-p "d1") (file-exists-p "d2")))))

(defun scenario-understood ()
  "The daemon reads all that the plugin says, and says so of what it does not read."
  (let ((desk (sidecar-desk)) (log (lambda ()
                                     (with-current-buffer (jsonrpc-stderr-buffer
                                                           (sidecar-desk-connection
                                                            (sidecar-desk)))
                                       (buffer-string)))))
    (scenario-check "all is read" (not (string-search "is no field" (funcall log))))
    (sidecar-call desk :context/meter :sesion 1)
    (scenario-want "what is not read is logged"
                   (lambda () (string-search "Did you mean `sessionId`?" (funcall log))))))

(defun scenario-costs ()
  "What turns took stands in the chat."
  (scenario-check "how many requests" (string-match-p "— [0-9]+ requests? · [0-9]+ tokens"
                                                      (scenario-chat))))

(defun scenario-second ()
  "Emacs was restarted, and the session is there."
  (scenario-open)
  (scenario-want "the conversation" (lambda () (= (scenario-ends) 1)))
  (scenario-costs)
  (princ (format "session %s\n" (sidecar-desk-session (sidecar-desk)))))

(provide 'emacs_scenario)
;;; emacs_scenario.el ends here
