;;; sidecar-desk.el --- A project that Sidecar works on, and its buffers  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A desk is a project with its daemon and its session.  The daemon is told what
;; open buffers say, saved or not, and its edits go through Emacs, so that undo
;; takes them back.

;;; Code:

(require 'cl-lib)
(require 'jsonrpc)
(require 'project)
(require 'subr-x)
(require 'url-util)

(defgroup sidecar nil
  "A coding agent's sessions, kept by the Sidecar daemon."
  :group 'tools
  :prefix "sidecar-")

(cl-defstruct (sidecar-desk (:constructor sidecar-desk--make) (:copier nil))
  "A project with its daemon and its session.
The session is `open' once it is loaded; `options' are what can be set in it."
  root connection session open options meter busy chat stopping deaths)

(defvar sidecar--desks nil "All desks.")

(defvar-local sidecar--desk nil "The desk of this buffer.")
(defvar-local sidecar--version nil "The version of this buffer that the daemon has, or nil.")
(defvar-local sidecar--stale nil "Whether the buffer was changed since.")
(defvar sidecar--timer nil "Sends what was changed, when Emacs is idle.")

(defun sidecar-desk ()
  "Give the desk of the current buffer's project, or an error."
  (or sidecar--desk
      (sidecar--desk-of (sidecar--root))
      (user-error "Sidecar is not on here: try M-x sidecar-mode")))

(defun sidecar--root ()
  "Give the folder of the current buffer's project."
  (let ((project (project-current)))
    (directory-file-name
     (file-truename (if project (project-root project) default-directory)))))

(defun sidecar--desk-of (root)
  "Give the desk of the folder ROOT, or nil."
  (cl-find root sidecar--desks :key #'sidecar-desk-root :test #'equal))

(defun sidecar--alive (desk)
  "Give t while the daemon of DESK is running."
  (let ((connection (sidecar-desk-connection desk)))
    (and connection (jsonrpc-running-p connection))))

;;; Names of files

(defun sidecar--local (path)
  "Give the absolute PATH so that Emacs takes it for none of another machine."
  ;; Emacs takes an empty folder, . and .. away before it looks for a machine.
  (if (or (file-remote-p path) (string-match-p "\\`/[^/]*:\\|/\\.?\\.?/[^:]*:" path))
      (concat "/:" path)
    path))

(defun sidecar--file (root path)
  "Give the name of PATH, which a session has, below ROOT; ~ is no home in it."
  (sidecar--local (if (string-prefix-p "/" path) path
                    (concat (string-remove-suffix "/" root) "/" path))))

;;; What buffers say

(defun sidecar--uri (path)
  "Give the URI of PATH."
  (concat "file://" (url-hexify-string path url-path-allowed-chars)))

(defun sidecar--buffers (desk)
  "Give the buffers whose files are followed for DESK."
  (seq-filter (lambda (buffer)
                (and (eq (buffer-local-value 'sidecar--desk buffer) desk)
                     (buffer-file-name buffer)))
              (buffer-list)))

(defun sidecar--open-files (desk)
  "Give the files of DESK that are shown in windows."
  (vconcat (seq-filter
            #'identity
            (mapcar (lambda (window)
                      (let ((buffer (window-buffer window)))
                        (and (eq (buffer-local-value 'sidecar--desk buffer) desk)
                             (buffer-file-name buffer))))
                    (window-list nil 'no-minibuffer)))))

(defun sidecar--document ()
  "Name the current buffer's document."
  (list :uri (sidecar--uri (file-truename buffer-file-name))))

(defun sidecar--text ()
  "Give the text of the whole buffer."
  (save-restriction (widen) (buffer-substring-no-properties (point-min) (point-max))))

(defun sidecar--tell (method params)
  "Notify the daemon of the current buffer of METHOD with PARAMS."
  (with-demoted-errors "Sidecar: %S"
    (jsonrpc-notify (sidecar-desk-connection sidecar--desk) method params)))

(defun sidecar--did-open ()
  "Tell the daemon that the current buffer is open."
  (when (and buffer-file-name (sidecar--alive sidecar--desk))
    (setq sidecar--version 1 sidecar--stale nil)
    (sidecar--tell :textDocument/didOpen
                   `(:textDocument (,@(sidecar--document) :version 1 :text ,(sidecar--text)
                                    :languageId ,(string-remove-suffix
                                                  "-mode" (symbol-name major-mode)))))))

(defun sidecar--did-change (&rest _)
  "Remember that the current buffer was changed, and tell of it soon."
  (setq sidecar--stale t)
  (unless sidecar--timer
    (setq sidecar--timer (run-with-idle-timer 0.3 nil #'sidecar--flush-all))))

(defun sidecar--flush-all ()
  "Tell all daemons what was changed."
  (setq sidecar--timer nil)
  (mapc #'sidecar--flush sidecar--desks))

(defun sidecar--flush (desk)
  "Tell the daemon of DESK what was changed since it was told last."
  (dolist (buffer (sidecar--buffers desk))
    (with-current-buffer buffer
      (when (and sidecar--stale sidecar--version (sidecar--alive desk))
        (setq sidecar--stale nil)
        (sidecar--tell :textDocument/didChange
                       `(:textDocument (,@(sidecar--document)
                                        :version ,(cl-incf sidecar--version))
                         :contentChanges [(:text ,(sidecar--text))]))))))

(defun sidecar--did-save ()
  "Tell the daemon that the current buffer was saved."
  (when (and sidecar--version (sidecar--alive sidecar--desk))
    (sidecar--flush sidecar--desk)
    (sidecar--tell :textDocument/didSave `(:textDocument ,(sidecar--document)))))

(defun sidecar--did-close ()
  "Tell the daemon that the current buffer is closed."
  (when (and sidecar--version (sidecar--alive sidecar--desk))
    (sidecar--tell :textDocument/didClose `(:textDocument ,(sidecar--document))))
  (setq sidecar--version nil))

;;; What it does to buffers

(defun sidecar--apply-edit (params)
  "Carry out the edits in PARAMS so that undo takes them back."
  (cl-loop
   for (uri edits) on (plist-get (plist-get params :edit) :changes) by #'cddr
   for path = (url-unhex-string (string-remove-prefix ":file://" (symbol-name uri)))
   do (with-current-buffer (find-file-noselect (sidecar--local (decode-coding-string path 'utf-8)) t)
        (let ((saved (not (buffer-modified-p))))
          ;; The daemon knows that the file is another by now; the user need not be asked.
          (when (and saved (file-exists-p buffer-file-name)) (set-visited-file-modtime))
          (undo-boundary)
          (save-restriction
            (widen)
            (dolist (edit (reverse (append edits nil)))
              (let ((range (plist-get edit :range)))
                (replace-region-contents (sidecar--place (plist-get range :start))
                                         (sidecar--place (plist-get range :end))
                                         (lambda () (plist-get edit :newText))))))
          (undo-boundary))
        (when sidecar--desk (sidecar--flush sidecar--desk))))
  '(:applied t))

(defun sidecar--place (position)
  "Give the place in the buffer that LSP's POSITION means."
  (save-excursion
    (goto-char (point-min))
    (if (zerop (forward-line (min (plist-get position :line) (buffer-size))))
        (min (line-end-position) (+ (point) (plist-get position :character)))
      (point-max))))

(defun sidecar-settle (desk)
  "Let the buffers of DESK agree with files that were changed on disk.
A buffer without changes of its own reads its file again; one that says
what the file says is not modified any more; others are left alone."
  (dolist (buffer (sidecar--buffers desk))
    (with-current-buffer buffer
      (when (file-readable-p buffer-file-name)
        (cond ((and (buffer-modified-p) (sidecar--as-on-disk))
               (set-visited-file-modtime)
               (set-buffer-modified-p nil))
              ((not (or (buffer-modified-p) (verify-visited-file-modtime)))
               (revert-buffer t t t)))))))

(defun sidecar--as-on-disk ()
  "Give t if the text of the current buffer is that of its file."
  (let ((text (sidecar--text)) (file buffer-file-name))
    (with-temp-buffer
      (insert-file-contents file)
      (equal text (buffer-string)))))

(provide 'sidecar-desk)
;;; sidecar-desk.el ends here
