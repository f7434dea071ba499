;;; sidecar-search.el --- Sidecar's sessions, found by their words  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The texts of all sessions are searched by the daemon, page by page; a match is
;; chosen by `completing-read', and its session opened there.

;;; Code:

(require 'sidecar-daemon)
(require 'sidecar-visible)

(declare-function sidecar-chat "sidecar-chat")
(declare-function sidecar-chat-buffer "sidecar-chat")

(defconst sidecar-search--enough 50 "Matches that are looked for before one is chosen.")
(defconst sidecar-search--older "Search older sessions")

(defun sidecar-rename (title)
  "Give the session another TITLE."
  (interactive "sTitle of the session: ")
  (message "The session is called “%s” now"
           (sidecar-visible-line
            (plist-get (sidecar-call (sidecar-desk) :session/rename :title title) :title))))

(defun sidecar-sessions ()
  "Open another session of this folder, the newest first."
  (interactive)
  (let* ((desk (sidecar-desk)) (number 0)
         (lines (mapcar (lambda (session)
                          (cons (format "%d. %s  %d turns" (cl-incf number)
                                        (sidecar-search--name session) (plist-get session :turns))
                                session))
                        (plist-get (sidecar-call desk :session/list :cwd (sidecar-desk-root desk))
                                   :sessions))))
    (sidecar-switch desk (plist-get (cdr (assoc (sidecar-search--choose lines) lines)) :sessionId)
                    #'sidecar-chat)))

(defun sidecar-search (words &optional cursor)
  "Open a session of this folder in one of whose texts all WORDS stand, there.
Words in double quotes stand together.  CURSOR is where to go on."
  (interactive "sSearch the folder's sessions: ")
  (let* ((desk (sidecar-desk)) (lines (sidecar-search--lines desk words cursor))
         (line (if lines (sidecar-search--choose lines)
                 (user-error "No session has these words in one of its texts")))
         (chosen (cdr (assoc line lines))))
    (if (stringp chosen) (sidecar-search words chosen)
      (sidecar-switch desk (plist-get (car chosen) :sessionId)
                      (lambda () (sidecar-search--show desk (plist-get (cdr chosen) :partId)))))))

(defun sidecar-search--choose (lines)
  "Have one of LINES chosen, which stay in their order."
  (completing-read "Open: "
                   (lambda (text fits action)
                     (if (eq action 'metadata) '(metadata (display-sort-function . identity))
                       (complete-with-action action lines text fits)))
                   nil t))

(defun sidecar-search--lines (desk words cursor)
  "Look for WORDS by DESK's daemon, beginning at CURSOR.
Give an alist from lines to a session and its match, or to where to go on."
  (let (lines)
    (while (let ((page (apply #'sidecar-call desk :session/search :query words
                              :cwd (sidecar-desk-root desk)
                              (and cursor (list :cursor cursor)))))
             (seq-do (lambda (one)
                       (let ((session (plist-get one :session)))
                         (seq-do (lambda (hit)
                                   (push `(,(sidecar-search--line session hit) ,session . ,hit)
                                         lines))
                                 (plist-get one :hits))))
                     (plist-get page :sessions))
             (setq cursor (plist-get page :nextCursor))
             (and cursor (< (length lines) sidecar-search--enough))))
    (when cursor (push (cons sidecar-search--older cursor) lines))
    (nreverse lines)))

(defun sidecar-search--line (session hit)
  "Say in one line what HIT in SESSION is."
  (cl-flet ((seen (field) (sidecar-visible-line (plist-get hit field))))
    (format "%s  %s: %s%s%s" (sidecar-search--name session) (plist-get hit :speaker)
            (seen :before) (propertize (seen :match) 'face 'match) (seen :after))))

(defun sidecar-search--name (session)
  "Say in a few words when SESSION was used last, and how it is called."
  (format "%s  %s" (substring (plist-get session :updatedAt) 0 10)
          (sidecar-search--title session)))

(defun sidecar-search--title (session)
  "Say how SESSION is called."
  (let ((title (plist-get session :title)))
    (if (string-empty-p title) "new session" (sidecar-visible-line title))))

(defun sidecar-search--show (desk part)
  "Show the chat of DESK, with point on PART if there is one."
  (sidecar-chat)
  (when part
    (with-current-buffer (sidecar-chat-buffer desk)
      (let ((place (point-min)) (window (get-buffer-window nil t)))
        (while (and place (not (equal (get-text-property place 'sidecar-part) part)))
          (setq place (next-single-property-change place 'sidecar-part)))
        (if place (progn (goto-char place) (when window (set-window-point window place)))
          (message "This is not in the conversation any more: going back left it behind"))))))

(provide 'sidecar-search)
;;; sidecar-search.el ends here
