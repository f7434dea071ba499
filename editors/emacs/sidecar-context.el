;;; sidecar-context.el --- Shows what fills a model's context  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The meter in words, the context piece by piece, and the plan of a compaction.

;;; Code:

(require 'cl-lib)
(require 'sidecar-daemon)

(defun sidecar-context--servers (tokens)
  "Say what TOKENS of the tools are whose server's, the largest first."
  (mapconcat (lambda (server)
               (format "%10d  of %s\n" (cdr server) (substring (symbol-name (car server)) 1)))
             (sort (cl-loop for (name count) on tokens by #'cddr collect (cons name count))
                   (lambda (one other) (> (cdr one) (cdr other))))
             ""))

(defun sidecar-context-about (meter)
  "Put METER in words, line by line."
  (let ((cache (plist-get meter :cache)) (cost (plist-get meter :cost)))
    (concat
     (cl-loop for (region tokens) on (plist-get meter :regions) by #'cddr
              unless (zerop tokens)
              concat (format "%8d  %s\n" tokens (substring (symbol-name region) 1))
              when (eq region :tools)
              concat (sidecar-context--servers (plist-get meter :toolsByServer)))
     (format "cache %s%s\n" (if (eq (plist-get cache :warm) t) "warm" "cold")
             (if (plist-get cache :expiresAt)
                 (format " until %s" (plist-get cache :expiresAt)) ""))
     (format "cost %s so far, next request %s\n" (or (plist-get cost :session) "unknown")
             (or (plist-get cost :nextRequest) "unknown"))
     (if (plist-get meter :turnsUntilCompaction)
         (format "about %s turns until compaction\n" (plist-get meter :turnsUntilCompaction))
       ""))))

(defun sidecar-context-plan (plan)
  "Show PLAN of a compaction."
  (with-help-window "*sidecar plan*"
    (when (plist-get plan :asked)
      (princ (format "summary: %s\n" (elt (plist-get plan :asked) 0))))
    (seq-doseq (step (plist-get plan :plan))
      (princ (format "%-9s %6d to %6d  %s\n" (plist-get step :action)
                     (plist-get step :tokensBefore) (plist-get step :tokensAfter)
                     (plist-get step :reason))))
    (princ (or (plist-get plan :summary) ""))))

(defun sidecar-context ()
  "Show what fills the context, piece by piece."
  (interactive)
  (let ((told (sidecar-call (sidecar-desk) :context/breakdown)))
    (with-help-window "*sidecar context*"
      (princ (sidecar-context-about (plist-get told :meter)))
      (princ "\n tokens  cached  region        what\n")
      (seq-doseq (piece (plist-get told :segments))
        (with-current-buffer standard-output
          (insert (propertize (format "%7d  %-6s  %-12s  %s\n" (plist-get piece :tokens)
                                      (if (eq (plist-get piece :cached) t) "yes" "")
                                      (plist-get piece :region) (plist-get piece :label))
                              'sidecar-part (plist-get piece :partId))))))))

(provide 'sidecar-context)
;;; sidecar-context.el ends here
