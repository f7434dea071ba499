"""Which test proves what each setting does; `tests/test_settings` sees that it is there."""

from collections.abc import Mapping

SESSION = "tests/session/"
E2E = "tests/e2e/"
SIZES = "tests/workspace/snapshots/test_sizes.py::"
ASKED = f"{E2E}test_settings_work.py::test_a_request_is_as_the_settings_say"
THRESHOLDS = "tests/observe/alerts/test_alerts.py::test_thresholds_can_be_set"
BEGINS = f"{SESSION}epochs/test_session_params.py::test_a_session_begins_as_the_settings_say"

PROVED: Mapping[str, str] = {
    "model": ASKED,
    "policy": BEGINS,
    "agent": f"{SESSION}compaction/test_strategies.py::test_an_agent_that_is_set_has_its_policy",
    "effort": ASKED,
    "window": ASKED,
    "max_tokens": ASKED,
    "max_steps": f"{SESSION}desk/test_settings_reload.py::"
    "test_every_open_session_is_told_and_the_next_turn_obeys",
    "auto_compact": BEGINS,
    "auto_continue": BEGINS,
    "summaries": f"{SESSION}compaction/test_compactor.py::test_no_model_is_asked_where_that_is_off",
    "summary_model": f"{SESSION}compaction/test_compactor.py::"
    "test_a_cheaper_model_is_asked_where_that_costs_less",
    "server_summaries": f"{E2E}test_server_compaction.py::test_it_is_not_asked_where_that_is_off",
    "idle_compaction": f"{SESSION}meter/test_idle_rewrite.py::test_it_can_be_turned_off",
    "keep_alive": f"{SESSION}meter/test_pings.py::test_none_is_sent_unless_it_is_wanted",
    "zones": f"{SESSION}meter/test_gauge.py::test_zones_begin_where_they_are_set_to",
    "instructions": ASKED,
    "learned": f"{SESSION}epochs/test_lessons.py::test_it_can_be_turned_off",
    "provider.name": "tests/model/messages/test_anthropic_model.py::"
    "test_foundry_is_chosen_by_configuration",
    "provider.base_url": ASKED,
    "provider.api_key": ASKED,
    "retry.attempts": "tests/model/test_models.py::test_a_model_is_asked_as_often_as_is_set",
    "retry.cap_ms": "tests/model/test_models.py::test_a_longer_wait_than_is_set_is_told_instead",
    "retry.total_ms": "tests/model/test_models.py::test_no_longer_is_waited_in_all_than_is_set",
    "delegate.steps": f"{SESSION}lifecycle/test_subtask.py::test_a_single_step_is_the_last",
    "delegate.tokens": f"{SESSION}lifecycle/test_subtask.py::test_tokens_and_cost_are_limited_too",
    "delegate.cost": f"{SESSION}lifecycle/test_subtask.py::test_tokens_and_cost_are_limited_too",
    "snapshots.file_mib": f"{SIZES}test_a_file_is_as_large_as_is_set",
    "snapshots.tracked_file_mib": f"{SIZES}test_what_git_tracks_is_as_large_as_is_set",
    "snapshots.step_mib": f"{SIZES}test_a_snapshot_reads_as_much_anew_as_is_set",
    "snapshots.workspace_mib": f"{SIZES}test_a_workspace_takes_as_much_as_is_set",
    "retention.outputs_days": "tests/store/content/test_outputs.py::"
    "test_an_output_is_there_for_seven_days_and_then_goes",
    "retention.outputs_mib": "tests/store/content/test_outputs.py::"
    "test_over_the_quota_the_oldest_go_but_none_of_live_sessions",
    "retention.archive_days": f"{SESSION}transfer/test_sweep.py::"
    "test_a_dry_run_says_exactly_what_the_real_one_does",
    "retention.sessions_mib": f"{SESSION}transfer/test_sweep.py::"
    "test_sessions_go_by_size_those_used_longest_ago_first",
    "sync.remote": f"{E2E}test_sync.py::test_the_remote_that_is_set_is_used",
    "sync.after_turns": f"{E2E}test_sync.py::"
    "test_turns_are_synced_as_they_end_where_that_is_wished_and_agreed_to",
    "sync.recipients": f"{E2E}test_sync_sealed.py::"
    "test_who_has_a_key_reads_and_who_has_none_does_not",
    "sync.identity": f"{E2E}test_sync_sealed.py::"
    "test_who_has_a_key_reads_and_who_has_none_does_not",
    "alerts.overflow_rate": THRESHOLDS,
    "alerts.hit_rate": THRESHOLDS,
    "alerts.summarising": THRESHOLDS,
    "alerts.utilisation": THRESHOLDS,
    "alerts.evictions": THRESHOLDS,
    "alerts.compression": THRESHOLDS,
    "alerts.burn_spike": THRESHOLDS,
    "alerts.fidelity": THRESHOLDS,
    "alerts.tool_results": THRESHOLDS,
    "alerts.off": "tests/observe/alerts/test_alerts.py::"
    "test_an_alert_that_nobody_wants_is_never_raised",
    "telemetry.exporter": f"{E2E}test_observed.py::test_metrics_of_a_turn_can_be_scraped",
    "telemetry.endpoint": "tests/observe/telemetry/test_exporters.py::"
    "test_otlp_sends_metrics_and_traces_at_the_end",
    "telemetry.port": "tests/observe/telemetry/test_exporters.py::"
    "test_a_port_that_is_taken_is_told_and_nothing_fails",
    "permissions.allow": f"{SESSION}desk/test_settings_reload.py::"
    "test_rules_change_in_open_sessions_and_answers_stay",
    "permissions.reject": f"{SESSION}desk/test_delegation.py::test_rules_that_reject_hold_in_it",
    "preserve": f"{SESSION}compaction/test_preserving.py::"
    "test_every_policy_leaves_alone_what_is_to_be_kept",
    "agents": f"{SESSION}compaction/test_strategies.py::"
    "test_each_agent_has_its_policy_and_whether_it_is_used_by_itself",
    "mcp_servers": f"{E2E}test_mcp.py::test_an_editor_has_servers_by_configuration",
    "providers": "tests/model/test_models.py::test_a_named_provider_gets_its_own_id_and_key",
    "workspace_trusted": f"{SESSION}changes/test_session_trust.py::"
    "test_an_editor_that_distrusts_is_not_asked",
    "data_dir": f"{E2E}test_settings_work.py::test_sessions_are_stored_where_is_set",
    "shared": f"{E2E}test_shared_or_alone.py::test_windows_share_none_by_a_setting",
    "log": f"{E2E}test_settings.py::test_the_log_is_as_quiet_as_the_file_says",
}
"""By the setting's name: `file::test`."""
