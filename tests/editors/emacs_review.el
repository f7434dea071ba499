;;; emacs_review.el --- A turn is reviewed hunk by hunk in Emacs  -*- lexical-binding: t; -*-

;;; Commentary:

;; Run by test_emacs.py, behind emacs_scenario.el.

;;; Code:

(require 'sidecar)

(defun review-text ()
  "Give what the review says."
  (with-current-buffer (car (scenario-buffers "\\`\\*sidecar review: "))
    (buffer-substring-no-properties (point-min) (point-max))))

(defun review-press (place keys)
  "Press KEYS where the review says PLACE."
  (switch-to-buffer (car (scenario-buffers "\\`\\*sidecar review: ")))
  (goto-char (point-min))
  (search-forward place)
  (scenario-keys keys))

(defun review-story (third thirtieth)
  "Give a story with THIRD and THIRTIETH in place of Anna on those days."
  (mapconcat (lambda (day)
               (format "On day %d %s walked.\n" day
                       (pcase day (3 third) (30 thirtieth) (_ "Anna"))))
             (number-sequence 1 40) ""))

(defun review-check (what third thirtieth &rest shown)
  "Check WHAT: the file has THIRD and THIRTIETH, the review each of SHOWN alone."
  (scenario-check what (equal (scenario-disk "story.md") (review-story third thirtieth)))
  (dolist (text '("+On day 3 Eve" "+On day 30 Eve" "+by the agent"))
    (scenario-check (format "%s: %s" what text)
                    (eq (and (member text shown) t)
                        (and (string-search text (review-text)) t)))))

(defun scenario-review ()
  "Each file and each hunk of a turn is kept or taken back on its own."
  (write-region (review-story "Anna" "Anna") nil "story.md" nil 'quiet)
  (scenario-open)
  (scenario-check "nothing was changed yet"
                  (condition-case said (progn (sidecar-review) nil)
                    (user-error (string-search "No turn has changed" (cadr said)))))
  (scenario-say (concat "replace `day 3 Anna` with `day 3 Eve` in story.md then replace "
                        "`day 30 Anna` with `day 30 Eve` in story.md then create made.txt with "
                        "`by the agent`"))
  (scenario-say "list files")
  (switch-to-buffer "notes.txt")
  (scenario-keys "M-x sidecar-review RET")
  (review-check "the turn" "Eve" "Eve" "+On day 3 Eve" "+On day 30 Eve" "+by the agent")
  (dolist (text '("--- a/made.txt\n+++ b/made.txt\n@@ -0,0 +1 @@\n+by the agent\n"
                  "--- a/story.md\n+++ b/story.md\n@@ -1,6 +1,6 @@\n On day 1 Anna walked.\n"
                  "\n-On day 3 Anna walked.\n+On day 3 Eve walked.\n On day 4"))
    (scenario-check text (string-search text (review-text))))
  (scenario-check "it is diff-mode" (derived-mode-p 'diff-mode))
  (review-press "+On day 3 Eve" "x")
  (review-check "a hunk taken back" "Anna" "Eve" "+On day 30 Eve" "+by the agent")
  (scenario-keys "u")
  (review-check "brought again" "Eve" "Eve" "+On day 3 Eve" "+On day 30 Eve" "+by the agent")
  (review-press "+On day 30 Eve" "x")
  (review-check "the other" "Eve" "Anna" "+On day 3 Eve" "+by the agent")
  (review-press "+On day 3 Eve" "k")
  (review-check "a hunk kept" "Eve" "Anna" "+by the agent")
  (scenario-check "it says so" (string-search "# story.md: kept" (review-text)))
  (scenario-keys "u")
  (review-check "kept no more" "Eve" "Anna" "+On day 3 Eve" "+by the agent")
  (review-press "+On day 3 Eve" "A g")
  (review-check "a file kept" "Eve" "Anna" "+by the agent")
  (review-press "b/made.txt" "x")
  (scenario-check "a file taken back" (not (file-exists-p "made.txt")))
  (scenario-keys "u")
  (scenario-check "brought again" (file-exists-p "made.txt"))
  (review-refused)
  (review-opened)
  (review-no-home)
  (review-twins)
  (princ "done\n"))

(defun review-refused ()
  "What became another is refused, and asked about."
  (write-region "by hand\n" nil "made.txt" nil 'quiet)
  (review-press "+by the agent" "x")
  (scenario-check "a refusal" (equal (scenario-disk "made.txt") "by hand\n"))
  (review-check "drawn anew" "Eve" "Anna")
  (write-region (review-story "Mary" "Anna") nil "story.md" nil 'quiet)
  (review-press "# story.md: " "X cancel RET")
  (review-check "left as it was" "Mary" "Anna")
  (review-press "# story.md: " "X overwrite RET")
  (review-check "overwritten" "Anna" "Anna"))

(defun review-opened ()
  "The file is opened where its hunk stands, and another session's is no more acted on."
  (scenario-say "replace `day 30 Anna` with `day 30 Eve` in story.md")
  (scenario-keys "M-x sidecar-review RET")
  (review-press "+On day 30 Eve" "RET")
  (scenario-check "the file" (equal (buffer-name) "story.md"))
  (scenario-check "the line" (equal (thing-at-point 'line t) "On day 30 Eve walked.\n"))
  (let* ((desk (sidecar-desk)) (before (sidecar-desk-session desk)))
    (sidecar-new)
    (scenario-want "another session" (lambda () (and (sidecar-desk-open desk)
                                                     (not (equal before (sidecar-desk-session desk)))))))
  (switch-to-buffer (car (scenario-buffers "\\`\\*sidecar review: ")))
  (goto-char (point-min))
  (search-forward "+On day 30 Eve")
  (scenario-check "another session's is refused"
                  (condition-case said (progn (sidecar-review-take-back-hunk) nil)
                    (user-error (string-search "This is another session" (cadr said))))))

(defun review-no-home ()
  "A folder called ~ is no home: its file is opened, by the review, a diff and ediff."
  (let ((file (concat (file-name-as-directory default-directory) "~/a.txt")) compared)
    (write-region "home\n" nil "~/a.txt" nil 'quiet)
    (scenario-type "sidecar-send" "create ./~/a.txt with `by the agent`")
    (scenario-asked "by the agent")
    (funcall (scenario-button "[Allow once]"))
    (scenario-idle)
    (scenario-check "it is there" (file-exists-p file))
    (sidecar-review)
    (review-press "+by the agent" "RET")
    (scenario-check "of the review" (equal buffer-file-name file))
    (switch-to-buffer "notes.txt")
    (cl-letf (((symbol-function 'ediff-buffers) (lambda (_ now) (setq compared now)))
              ((symbol-function 'completing-read) (lambda (&rest _) "~/a.txt")))
      (let ((desk (sidecar-desk)))
        (sidecar-rollback--ediff desk (aref (plist-get (sidecar-call desk :checkpoint/list)
                                                       :checkpoints)
                                            0))))
    (scenario-check "of ediff" (equal (buffer-file-name compared) file))
    (with-temp-buffer
      (insert "--- /dev/null\n+++ b/~/a.txt\n@@ -0,0 +1 @@\n+by the agent\n")
      (diff-mode)
      (sidecar-visible-lead (string-remove-suffix "/~/a.txt" file))
      (goto-char (point-min))
      (scenario-check "of a new file" (equal (diff-find-file-name nil t) file)))))

(defun review-places (what &rest places)
  "Check WHAT: hunks of equal text are shown at PLACES alone."
  (dolist (place '("@@ -1,7 +1,7 @@" "@@ -9,7 +9,7 @@" "@@ -17,7 +17,7 @@"))
    (scenario-check (format "%s: %s" what place)
                    (eq (and (member place places) t)
                        (and (string-search place (review-text)) t)))))

(defun review-twins ()
  "Of hunks of equal text each is kept alone."
  (let* ((block "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n")
         (text (concat block block block)))
    (write-region text nil "twins.txt" nil 'quiet)
    (scenario-say (concat "call write_file "
                          (json-serialize `(:path "twins.txt"
                                            :content ,(string-replace "four" "4" text))))))
  (sidecar-review)
  (review-places "all" "@@ -1,7 +1,7 @@" "@@ -9,7 +9,7 @@" "@@ -17,7 +17,7 @@")
  (review-press "@@ -9,7" "a")
  (review-places "one kept" "@@ -1,7 +1,7 @@" "@@ -17,7 +17,7 @@")
  (review-press "@@ -1,7" "x")
  (review-places "the third is not the second that was kept" "@@ -9,7 +9,7 @@" "@@ -17,7 +17,7 @@")
  (review-press "@@ -17,7" "a")
  (review-press "@@ -9,7" "a")
  (scenario-check "both are kept" (string-search "# twins.txt: kept" (review-text))))

(provide 'emacs_review)
;;; emacs_review.el ends here
