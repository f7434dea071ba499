;;; sidecar-daemon.el --- Runs Sidecar's daemon and speaks to it  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; One process for each project: the daemon, or what attaches to the one that
;; all windows share.  This file starts it, starts it again when it dies, and
;; opens its session.  What arrives for the chat is handed to
;; `sidecar-update-functions'.

;;; Code:

(require 'auth-source)
(require 'cl-lib)
(require 'jsonrpc)
(require 'sidecar-desk)

(defcustom sidecar-command '("sidecar" "serve" "--stdio")
  "The program that is the daemon, with its arguments."
  :group 'sidecar
  :type '(repeat string))

(defcustom sidecar-options nil
  "Options for the daemon, as a property list.
They go to it as `initializationOptions', for example
\(:model \"offline\" :workspaceTrusted t :permissions (:allow [\"edit\"]))."
  :group 'sidecar
  :type '(plist :key-type symbol :value-type sexp))

(defcustom sidecar-api-key 'auth-source
  "Where the provider's API key comes from.
The key is given to the daemon when it is initialized, never on its
command line.  With `auth-source' it is the secret of the host
`sidecar-api-host'.  A function is called without arguments and gives the
key or nil.  With nil, the daemon looks for it itself."
  :group 'sidecar
  :type '(choice (const :tag "The auth-source library" auth-source)
                 (const :tag "The daemon's own configuration" nil)
                 function))

(defcustom sidecar-api-host "api.anthropic.com"
  "The host under which auth-source knows the API key."
  :group 'sidecar
  :type 'string)

(defcustom sidecar-resume t
  "Whether to go on with the folder's newest session, if it has one."
  :group 'sidecar
  :type 'boolean)

(defcustom sidecar-restart-delay 1
  "Seconds until a daemon that died is started again."
  :group 'sidecar
  :type 'number)

(defconst sidecar--most-restarts 5
  "As often a daemon is started again within a minute, and then no more.")

(defvar sidecar-update-functions nil
  "Functions called with a desk and what it is told of its session.
What is told is a symbol and its parameters: `update', `retrying',
`permission' with a function that takes the answer, `withdrawn' with the
id of such a question, or `clear'.")

(defun sidecar-desk-on (root)
  "Give the desk of the folder ROOT, its daemon running."
  (let ((desk (or (sidecar--desk-of root)
                  (car (push (sidecar-desk--make :root root) sidecar--desks)))))
    (unless (sidecar--alive desk)
      (sidecar--start desk))
    desk))

;;; The daemon

(defclass sidecar-connection (jsonrpc-process-connection) ()
  "A connection that can answer a request later.")

(cl-defmethod jsonrpc-connection-send ((connection sidecar-connection) &rest arguments
                                       &key id result &allow-other-keys)
  "Send ARGUMENTS on CONNECTION, ID and RESULT among them.
A RESULT that is a function is called with ID and a function that answers."
  (if (functionp result)
      (funcall result id
               (lambda (answer)
                 (when (jsonrpc-running-p connection)
                   (jsonrpc-connection-send connection :id id :result answer))))
    (cl-call-next-method)))

(defun sidecar--program ()
  "Give the daemon's program, from absolute folders of variable `exec-path' alone.
A relative one would be found in the folder that is open."
  (let ((exec-path (seq-filter (lambda (folder) (and folder (file-name-absolute-p folder)))
                               exec-path))
        (program (car sidecar-command)))
    (or (if (file-name-directory program)
            (executable-find program)
          (locate-file program exec-path exec-suffixes 1))
        (user-error (concat "There is no program %s: install it, as by `uv tool install"
                            " sidecard', or set `sidecar-command'")
                    program))))

(defun sidecar--start (desk)
  "Start the daemon of DESK, and open its session."
  (setf (sidecar-desk-stopping desk) nil)
  (let* ((name (format "sidecar %s" (file-name-nondirectory (sidecar-desk-root desk))))
         (default-directory (file-name-as-directory (sidecar-desk-root desk)))
         (command (cons (sidecar--program) (cdr sidecar-command))))
    (setf (sidecar-desk-connection desk)
          (make-instance
           'sidecar-connection
           :name name
           ;; Nothing is kept of what is sent: the API key is in it.
           :events-buffer-scrollback-size 0
           :process (lambda ()
                      (make-process
                       :name name :command command :connection-type 'pipe
                       :coding 'utf-8-emacs-unix :noquery t
                       :stderr (get-buffer-create (format "*%s stderr*" name))))
           :notification-dispatcher (lambda (_ method params)
                                      (sidecar--notified desk method params))
           :request-dispatcher (lambda (_ method params)
                                 (sidecar--requested desk method params))
           :on-shutdown (lambda (_) (sidecar--died desk))))
    (let ((errors (get-buffer-process
                   (jsonrpc-stderr-buffer (sidecar-desk-connection desk)))))
      (when errors (set-process-query-on-exit-flag errors nil)))
    (sidecar-request desk :initialize (sidecar--introduction desk)
                     (lambda (_)
                       (jsonrpc-notify (sidecar-desk-connection desk) :initialized
                                       (make-hash-table))
                       (dolist (buffer (sidecar--buffers desk))
                         (with-current-buffer buffer (sidecar--did-open)))
                       (sidecar--find-session desk)))))

(defun sidecar--introduction (desk)
  "Give the parameters of initialize for DESK."
  (let* ((options (copy-sequence sidecar-options))
         (key (sidecar--api-key)))
    (when key
      (setq options (plist-put options :provider
                               (plist-put (copy-sequence (plist-get options :provider))
                                          :apiKey key))))
    (list :processId (emacs-pid)
          :rootUri (sidecar--uri (sidecar-desk-root desk))
          :initializationOptions (or options (make-hash-table))
          :capabilities
          '(:workspace (:applyEdit t)
            :experimental (:sidecar (:requestPermission t))))))

(defun sidecar--api-key ()
  "Give the provider's API key, or nil."
  (if (eq sidecar-api-key 'auth-source)
      (let ((secret (plist-get (car (auth-source-search :host sidecar-api-host :max 1))
                               :secret)))
        (if (functionp secret) (funcall secret) secret))
    (and sidecar-api-key (funcall sidecar-api-key))))

(defun sidecar--died (desk)
  "Start the daemon of DESK again, unless it was stopped or dies too often."
  (setf (sidecar-desk-busy desk) nil (sidecar-desk-open desk) nil (sidecar-desk-meter desk) nil)
  (dolist (buffer (sidecar--buffers desk))
    (with-current-buffer buffer (setq sidecar--version nil)))
  (unless (sidecar-desk-stopping desk)
    (let ((now (float-time)))
      (setf (sidecar-desk-deaths desk)
            (cons now (seq-filter (lambda (at) (< (- now at) 60)) (sidecar-desk-deaths desk)))))
    (if (> (length (sidecar-desk-deaths desk)) sidecar--most-restarts)
        (message "Sidecar's daemon dies again and again: see M-x sidecar-log")
      (run-at-time sidecar-restart-delay nil #'sidecar--start desk)))
  (force-mode-line-update t))

(defun sidecar-stop (desk)
  "Stop the daemon of DESK as it likes to be stopped."
  (setf (sidecar-desk-stopping desk) t)
  (when (sidecar--alive desk)
    (ignore-errors
      (jsonrpc-request (sidecar-desk-connection desk) :shutdown nil :timeout 3)
      (jsonrpc-notify (sidecar-desk-connection desk) :exit nil))))

(defun sidecar--stop-all ()
  "Stop all daemons."
  (mapc #'sidecar-stop sidecar--desks))

(add-hook 'kill-emacs-hook #'sidecar--stop-all)

;;; Asking it

(defun sidecar-request (desk method params then &optional failed)
  "Ask the daemon of DESK for METHOD with PARAMS, and go on.
THEN is called with the result, FAILED with the words of an error,
which are shown without it."
  (sidecar--flush desk)
  ;; The daemon may have died since the answer came that this goes on from.
  (with-demoted-errors "Sidecar: %S"
    (jsonrpc-async-request
     (sidecar-desk-connection desk) method params :timeout nil
     :success-fn then
     :error-fn (lambda (problem)
                 (funcall (or failed (lambda (words) (message "%s" words)))
                          (concat "Sidecar: " (plist-get problem :message)))))))

(defun sidecar-session (desk)
  "Give the session that is open on DESK, or an error."
  (unless (and (sidecar--alive desk) (sidecar-desk-open desk))
    (user-error "Sidecar's daemon is not ready: try again, or see M-x sidecar-log"))
  (sidecar-desk-session desk))

(defun sidecar-call (desk method &rest params)
  "Ask the daemon of DESK for METHOD about its session, with PARAMS, and wait.
PARAMS that name a folder, as `:cwd', are not about a session."
  ;; A buffer that is only behind its file would count as one with unsaved work.
  (sidecar-settle desk)
  (sidecar--flush desk)
  (condition-case problem
      (jsonrpc-request (sidecar-desk-connection desk) method
                       (if (plist-member params :cwd) params
                         `(:sessionId ,(sidecar-session desk) ,@params))
                       :timeout 60)
    (jsonrpc-error
     (user-error "Sidecar: %s" (alist-get 'jsonrpc-error-message (cdr problem))))))

;;; Sessions

(defun sidecar--find-session (desk)
  "Open the session that DESK had, the newest of its folder, or a new one."
  (cond ((sidecar-desk-session desk)
         (sidecar-switch desk (sidecar-desk-session desk)))
        (sidecar-resume
         (sidecar-request desk :session/list `(:cwd ,(sidecar-desk-root desk) :limit 1)
                          (lambda (found)
                            (let ((sessions (plist-get found :sessions)))
                              (if (zerop (length sessions))
                                  (sidecar-begin desk)
                                (sidecar-switch desk (plist-get (aref sessions 0)
                                                                :sessionId)))))))
        (t (sidecar-begin desk))))

(defun sidecar-begin (desk)
  "Begin a new session on DESK."
  (sidecar-request desk :session/new `(:cwd ,(sidecar-desk-root desk))
                   (lambda (made) (sidecar-switch desk (plist-get made :sessionId)))))

(defun sidecar-switch (desk session &optional then)
  "Load SESSION on DESK, show it from its beginning, and do THEN."
  (unless (equal session (sidecar-desk-session desk))
    (setf (sidecar-desk-session desk) session (sidecar-desk-open desk) nil))
  (run-hook-with-args 'sidecar-update-functions desk 'clear nil)
  (sidecar-request desk :session/load
                   `(:sessionId ,session :cwd ,(sidecar-desk-root desk) :replay t)
                   (lambda (loaded)
                     (setf (sidecar-desk-open desk) t
                           (sidecar-desk-options desk) (plist-get loaded :configOptions))
                     (when then (funcall then))
                     (sidecar-request desk :context/meter `(:sessionId ,session)
                                      (lambda (meter) (sidecar--metered desk meter))))))

(defun sidecar--metered (desk meter)
  "Remember METER of DESK, and show it."
  (when (equal (plist-get meter :sessionId) (sidecar-desk-session desk))
    (setf (sidecar-desk-meter desk) meter)
    (force-mode-line-update t)))

;;; What the daemon says

(defun sidecar--notified (desk method params)
  "Take the notification METHOD with PARAMS from the daemon of DESK."
  (let ((mine (equal (plist-get params :sessionId) (sidecar-desk-session desk))))
    (pcase method
      ('context/meterChanged (sidecar--metered desk params))
      ('$/cancelRequest
       (run-hook-with-args 'sidecar-update-functions desk 'withdrawn (plist-get params :id)))
      ('window/logMessage (sidecar--logged desk (plist-get params :message)))
      ('window/showMessage (message "Sidecar: %s" (plist-get params :message)))
      ('daemon/statusChanged
       (setf (sidecar-desk-busy desk) (eq (plist-get params :busy) t))
       (force-mode-line-update t))
      ('session/changed
       (when (and mine (equal (plist-get params :cause) "resync"))
         (sidecar-switch desk (sidecar-desk-session desk))))
      ((and 'session/retrying (guard mine))
       (run-hook-with-args 'sidecar-update-functions desk 'retrying params))
      ((and 'session/update (guard mine))
       (let ((update (plist-get params :update)))
         (when (equal (plist-get update :sessionUpdate) "config_option_update")
           (setf (sidecar-desk-options desk) (plist-get update :configOptions)))
         (run-hook-with-args 'sidecar-update-functions desk 'update update)
         (when (member (plist-get update :status) '("completed" "failed"))
           (sidecar-settle desk)))))))

(defun sidecar--logged (desk text)
  "Add TEXT to the log of the daemon of DESK."
  (with-current-buffer (jsonrpc-stderr-buffer (sidecar-desk-connection desk))
    (save-excursion
      (goto-char (point-max))
      (let ((inhibit-read-only t)) (insert text "\n")))))

(defun sidecar--requested (desk method params)
  "Answer the request METHOD with PARAMS of the daemon of DESK."
  (pcase method
    ('workspace/applyEdit (sidecar--apply-edit params))
    ('session/request_permission
     (lambda (id answer)
       (run-hook-with-args 'sidecar-update-functions desk 'permission
                           (list :id id :ask params :answer answer))))
    (_ (jsonrpc-error :code -32601 :message (format "Emacs does not answer %s" method)))))

(provide 'sidecar-daemon)
;;; sidecar-daemon.el ends here
