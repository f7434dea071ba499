;;; sidecar-unseen.el --- What the model no longer sees  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Parts of the conversation that a compaction left out or shortened are greyed in
;; the chat, with the reason behind their first line; `sidecar-recall' lets one go
;; along whole with the next message.

;;; Code:

(require 'sidecar-daemon)
(require 'sidecar-visible)

(declare-function sidecar-chat-buffer "sidecar-chat")
(defvar sidecar-chat--prompt)
(defvar sidecar-chat--parts)

(defface sidecar-unseen '((t :inherit shadow))
  "Face of what the model no longer sees whole."
  :group 'sidecar)

(defconst sidecar-unseen--pause 0.3 "Seconds between two looks.")
(defconst sidecar-unseen--most 40 "Letters of what a recalled part is called.")

(defvar-local sidecar-unseen--looking nil "Whether a look comes soon.")
(defvar-local sidecar-unseen--recalled nil
  "What goes along with the next message.
Each is a session, a part, its name and its block.")

(defun sidecar-unseen--look (desk what update)
  "Look soon at what is whole in the chat of DESK, where WHAT or UPDATE matters."
  (when (or (eq what 'clear)
            (member (plist-get update :sessionUpdate) '("turn_ended" "compaction_update")))
    (with-current-buffer (sidecar-chat-buffer desk)
      (unless sidecar-unseen--looking
        (setq sidecar-unseen--looking t)
        (run-with-timer sidecar-unseen--pause nil #'sidecar-unseen--ask desk)))))

(defun sidecar-unseen--ask (desk)
  "Ask which parts of the session of DESK are not whole, and mark them."
  (with-current-buffer (sidecar-chat-buffer desk) (setq sidecar-unseen--looking nil))
  (let ((session (sidecar-desk-session desk)))
    (when (and (sidecar--alive desk) (sidecar-desk-open desk))
      (sidecar-request desk :context/breakdown (list :sessionId session)
                       (lambda (found)
                         (when (equal session (sidecar-desk-session desk))
                           (sidecar-unseen--mark desk (plist-get found :segments))))
                       ;; What failed is said elsewhere; the next change asks again.
                       #'ignore))))

(defun sidecar-unseen--why (segment)
  "Say how SEGMENT of the context stands and why, or nothing if it is whole."
  (let ((how (plist-get segment :presentation)) (reason (plist-get segment :reason)))
    (unless (or (not (plist-get segment :partId)) (member how '("verbatim" "note")))
      (concat (if (member how '("truncated" "excerpt" "quoted")) "shortened" "left out")
              (and reason (concat ": " (sidecar-visible-line reason)))))))

(defun sidecar-unseen--mark (desk segments)
  "Grey in the chat of DESK what is not whole of SEGMENTS, and nothing else."
  (let ((marks (make-hash-table :test #'equal)))
    (seq-doseq (one segments)
      (when-let ((why (sidecar-unseen--why one))) (puthash (plist-get one :partId) why marks)))
    (with-current-buffer (sidecar-chat-buffer desk)
      (save-restriction
        (widen)
        (remove-overlays (point-min) (point-max) 'sidecar-unseen t)
        (let ((at (point-min)))
          (while at
            (let ((next (next-single-property-change at 'sidecar-part))
                  (why (gethash (get-text-property at 'sidecar-part) marks)))
              (when why (sidecar-unseen--grey at (or next (point-max)) why))
              (setq at next))))))))

(defun sidecar-unseen--grey (from to why)
  "Grey what stands between FROM and TO, and say WHY behind its first line."
  (let* ((line (save-excursion (goto-char from) (min to (line-end-position))))
         (grey (make-overlay from to)) (mark (make-overlay from line)))
    (dolist (overlay (list grey mark))
      (overlay-put overlay 'sidecar-unseen t)
      (overlay-put overlay 'evaporate t))
    (overlay-put grey 'face 'sidecar-unseen)
    (overlay-put mark 'after-string (propertize (concat "  " why) 'face 'sidecar-unseen))))

;;; Recalling

(defun sidecar-recall ()
  "Let the part at point go along whole with the next message, or no more.
It is one of the chat that the model no longer sees whole."
  (interactive)
  (let* ((desk (sidecar-desk)) (part (get-text-property (point) 'sidecar-part))
         (session (sidecar-session desk)))
    (unless (and part (seq-some (lambda (one) (overlay-get one 'sidecar-unseen))
                                (overlays-at (point))))
      (user-error "The model sees this whole, as far as it is of the conversation"))
    (with-current-buffer (sidecar-chat-buffer desk)
      (let ((known (seq-find (lambda (one) (equal part (cadr one))) sidecar-unseen--recalled))
            (name (sidecar-unseen--name part)))
        (setq sidecar-unseen--recalled
              (if known (remove known sidecar-unseen--recalled)
                (append sidecar-unseen--recalled
                        `((,session ,part ,name ,(sidecar-unseen--block desk part name))))))
        (sidecar-unseen--tell desk)
        (message (if known "%s goes along no more" "%s goes along whole with your next message")
                 name)))))

(defun sidecar-unseen--name (part)
  "Give what PART of this chat is called: a call, or how a text begins."
  (pcase-let* ((`(,from ,to ,call) (seq-find
                                    (lambda (place)
                                      (equal part (get-text-property (car place) 'sidecar-part)))
                                    (hash-table-values sidecar-chat--parts)))
               (text (buffer-substring-no-properties from to)))
    (when (and call (symbolp call))
      (user-error "Thinking is the model's own, and goes along nowhere"))
    (sidecar-visible-line
     (truncate-string-to-width
      (cond (call (or (plist-get call :title) "tool"))
            ;; By the face: an answer may begin as a prompt does.
            ((eq (get-text-property from 'face) 'sidecar-user)
             (concat "what you said: " (string-remove-prefix sidecar-chat--prompt text)))
            (t (concat "the answer: " (string-trim text))))
      sidecar-unseen--most))))

(defun sidecar-unseen--block (desk part name)
  "Read PART of the session of DESK, called NAME, as a block of a prompt."
  (let* ((found (sidecar-call desk :context/recall :partId part))
         (next (plist-get found :nextOffset)))
    `(:type "resource"
      :resource (:uri ,(format "sidecar:part/%s#%s" part (url-hexify-string name))
                 :text ,(concat name ", as it was earlier in this conversation:\n\n"
                                (plist-get found :content)
                                (and next
                                     (format (concat "\n[the first %d of %d bytes; recall reads "
                                                     "on from there by the id %s]")
                                             next (plist-get found :totalBytes) part)))))))

(defun sidecar-unseen--here (desk)
  "Give what the next message of the session of DESK takes along."
  (seq-filter (lambda (one) (equal (car one) (sidecar-desk-session desk)))
              (buffer-local-value 'sidecar-unseen--recalled (sidecar-chat-buffer desk))))

(defun sidecar-unseen--tell (desk)
  "Say above the chat of DESK what the next message takes along."
  (with-current-buffer (sidecar-chat-buffer desk)
    (setq header-line-format
          (when-let ((here (sidecar-unseen--here desk)))
            (string-replace "%" "%%" (concat " + " (mapconcat #'caddr here ", ")))))
    (force-mode-line-update)))

(defun sidecar-unseen-take (desk)
  "Give the blocks that a message on DESK takes along, and what puts them back."
  (with-current-buffer (sidecar-chat-buffer desk)
    (let ((before sidecar-unseen--recalled) (blocks (mapcar #'cadddr (sidecar-unseen--here desk))))
      (setq sidecar-unseen--recalled nil)
      (sidecar-unseen--tell desk)
      (cons blocks (lambda ()
                     (with-current-buffer (sidecar-chat-buffer desk)
                       (setq sidecar-unseen--recalled before))
                     (sidecar-unseen--tell desk))))))

(defun sidecar-unseen-uri (content)
  "Give the URI of CONTENT, and of a part that went along what it is called."
  (let ((uri (or (plist-get content :uri) (plist-get (plist-get content :resource) :uri) "")))
    (if (string-match "\\`sidecar:part/[^#]*#" uri)
        (concat "+ " (decode-coding-string (url-unhex-string (substring uri (match-end 0))) 'utf-8))
      uri)))

(add-hook 'sidecar-update-functions #'sidecar-unseen--look t)

(provide 'sidecar-unseen)
;;; sidecar-unseen.el ends here
