;;; emacs_one_session.el --- Beside other editors on one session  -*- lexical-binding: t; -*-

;;; Commentary:

;; See `vscode/one_session.mjs', which says when.

;;; Code:

(load (expand-file-name "emacs_scenario.el" (file-name-directory load-file-name)) nil t)

(defconst beside-marks (expand-file-name "../emacs-") "What the marks' names begin with.")

(defun beside-step (name run)
  "Once NAME is to begin, RUN; tell that it is done, with the tokens in the context."
  (unless (equal name "joined")
    (scenario-want (concat name " to begin")
                   (lambda () (file-exists-p (concat beside-marks name ".go")))))
  (funcall run)
  (let ((new (concat beside-marks name ".new")))
    (write-region (number-to-string (scenario-used)) nil new nil 'quiet)
    (rename-file new (concat beside-marks name ".done"))))

(defun beside-heard (text)
  "Wait until TEXT was asked and answered in the chat."
  (scenario-want text (lambda () (string-match-p (concat (regexp-quote text) "[^›]+ request")
                                                 (scenario-chat)))))

(defun beside-others ()
  "Go on in the session that others have open."
  (switch-to-buffer (find-file-noselect "a.txt"))
  (beside-step "joined"
               (lambda ()
                 (scenario-keys "M-x sidecar-mode RET")
                 (scenario-want "the session" (lambda () (sidecar-desk-open (sidecar-desk))))
                 (scenario-want "its meter" (lambda () (sidecar-desk-meter (sidecar-desk))))
                 (scenario-want "its history" (lambda () (string-search "read a.txt" (scenario-chat))))))
  (beside-step "spoken"
               (lambda ()
                 (scenario-type "sidecar-send" "hello from emacs")
                 (beside-heard "hello from emacs")
                 (scenario-idle)))
  (beside-step "heard"
               (lambda ()
                 (dolist (name '("vscode" "neovim" "emacs" "acp"))
                   (beside-heard (concat "hello from " name)))))
  (beside-step "answered"
               (lambda ()
                 (scenario-asked "echo four > four.txt")
                 (scenario-type "sidecar-answer" "Allow once")
                 (scenario-want "what was allowed" (lambda () (file-exists-p "four.txt")))
                 (scenario-idle))))

;;; emacs_one_session.el ends here
