"""From a policy to a rewrite: when, which plan, admitted or not."""
