;;; sidecar-search.el --- Sidecar's sessions, found by their words  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The texts of all sessions are searched by the daemon, page by page; a match is
;; chosen by `completing-read', and its session opened there.

;;; Code:

(require 'sidecar-daemon)

(declare-function sidecar-chat "sidecar-chat")
(declare-function sidecar-chat-buffer "sidecar-chat")

(defconst sidecar-search--enough 50 "Matches that are looked for before one is chosen.")
(defconst sidecar-search--older "Search older sessions")

(defun sidecar-rename (title)
  "Give the session another TITLE."
  (interactive "sTitle of the session: ")
  (message "The session is called “%s” now"
           (plist-get (sidecar-call (sidecar-desk) :session/rename :title title) :title)))

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
  (format "%s  %s  %s: %s%s%s" (substring (plist-get session :updatedAt) 0 10)
          (plist-get session :title) (plist-get hit :speaker) (plist-get hit :before)
          (propertize (plist-get hit :match) 'face 'match) (plist-get hit :after)))

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
