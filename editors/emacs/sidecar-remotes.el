;;; sidecar-remotes.el --- Sidecar's sessions on git remotes  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Sessions of a folder are synced with a git remote by the daemon, the first time
;; once it is seen what would go where; one that lies there is opened here.

;;; Code:

(require 'sidecar-daemon)
(require 'sidecar-search)

(declare-function sidecar-chat "sidecar-chat")

(defun sidecar-remotes--ask ()
  "Read a remote; none, for that of the settings."
  (list (let ((given (read-string "Git remote (the usual one): ")))
          (unless (string-empty-p given) given))))

(defun sidecar-remotes--synced (desk remote &optional names)
  "Sync DESK's folder with REMOTE, opening NAMES; give what was done, or nil."
  (let* ((about `(:cwd ,(sidecar-desk-root desk) ,@(and remote (list :remote remote))
                       ,@(and names (list :open (vconcat names)))))
         (plan (apply #'sidecar-call desk :session/sync about))
         (place (plist-get plan :remote)))
    (cond ((eq (plist-get plan :agreed) t) plan)
          ((yes-or-no-p
            (format "Who can read %s can read what is sent%s: %s.  Send it, from now on without asking? "
                    place (if (> (plist-get plan :recipients) 0) " with a key that is set" "")
                    (sidecar-remotes--titles (plist-get plan :sent))))
           (apply #'sidecar-call desk :session/sync :agree place about)))))

(defun sidecar-remotes--titles (sent)
  "Say what is SENT."
  (if (seq-empty-p sent) "nothing yet"
    (mapconcat (lambda (one) (format "%s (%d messages, %d bytes)" (sidecar-search--title one)
                                     (plist-get one :messages) (plist-get one :size)))
               sent ", ")))

(defun sidecar-remotes--tell (done)
  "Say what was DONE."
  (message "%d sent, %d received, %d forked: %s.  %s"
           (length (plist-get done :sent)) (length (plist-get done :received))
           (length (plist-get done :forked)) (plist-get done :remote)
           (mapconcat #'identity (plist-get done :notes) " ")))

(defun sidecar-sync (remote)
  "Bring the sessions of this folder and those on git REMOTE together."
  (interactive (sidecar-remotes--ask))
  (let ((done (sidecar-remotes--synced (sidecar-desk) remote)))
    (if done (sidecar-remotes--tell done) (message "Nothing was sent"))))

(defun sidecar-open-from-elsewhere (remote)
  "Open a session that lies on git REMOTE, as another machine left it."
  (interactive (sidecar-remotes--ask))
  (let* ((desk (sidecar-desk))
         (listed (apply #'sidecar-call desk :session/listRemote
                        :cwd (sidecar-desk-root desk) (and remote (list :remote remote))))
         (lines (mapcar (lambda (one)
                          (cons (format "%s  %d turns  %s" (sidecar-search--name one)
                                        (plist-get one :turns) (plist-get one :name))
                                one))
                        (plist-get listed :sessions)))
         (one (cdr (assoc (if lines (sidecar-search--choose lines)
                            (user-error "No session lies on %s" (plist-get listed :remote)))
                          lines)))
         (here (plist-get one :sessionId))
         (done (unless here (sidecar-remotes--synced desk remote (list (plist-get one :name)))))
         (came (seq-find (lambda (each) (equal (plist-get each :name) (plist-get one :name)))
                         (plist-get done :received))))
    (when (or here came)
      (sidecar-switch desk (or here (plist-get came :sessionId)) #'sidecar-chat))
    (when done (sidecar-remotes--tell done))))

(provide 'sidecar-remotes)
;;; sidecar-remotes.el ends here
