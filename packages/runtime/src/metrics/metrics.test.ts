import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from './registry.ts';
import { RuntimeMetrics } from './runtime-metrics.ts';

test('the text is what Prometheus reads: help, type, labels escaped, buckets summed up', () => {
  const registry = new Registry();
  registry.counter('c_total', 'Counts.\nMore.').add({ key: 'a"b\\c\nd' }, 2);
  registry.gauge('g', 'Is.').set({}, Number.POSITIVE_INFINITY);
  const times = registry.histogram('h_seconds', 'Takes.', [0.1, 1]);
  for (const value of [0.05, 0.1, 0.5, 7]) times.observe({ verb: 'GET' }, value);
  registry.read('r', 'Read.', () => [{ labels: { of: 'x' }, value: 3 }]);
  assert.equal(
    registry.text(),
    [
      '# HELP c_total Counts.\\nMore.',
      '# TYPE c_total counter',
      'c_total{key="a\\"b\\\\c\\nd"} 2',
      '# HELP g Is.',
      '# TYPE g gauge',
      'g +Inf',
      '# HELP h_seconds Takes.',
      '# TYPE h_seconds histogram',
      'h_seconds_bucket{verb="GET",le="0.1"} 2',
      'h_seconds_bucket{verb="GET",le="1"} 3',
      'h_seconds_bucket{verb="GET",le="+Inf"} 4',
      'h_seconds_sum{verb="GET"} 7.65',
      'h_seconds_count{verb="GET"} 4',
      '# HELP r Read.',
      '# TYPE r gauge',
      'r{of="x"} 3',
      '',
    ].join('\n'),
  );
  assert.throws(() => registry.counter('g', 'Again.'), RangeError);
});

test('the names that dashboards know are all there', () => {
  const text = new RuntimeMetrics().registry.text();
  const names = [
    ...['depth', 'adds_total', 'queue_duration_seconds', 'work_duration_seconds', 'unfinished_work_seconds'].map(
      (name) => `workqueue_${name}`,
    ),
    ...['workqueue_longest_running_processor_seconds', 'workqueue_retries_total', 'leader_election_master_status'],
    ...['reconcile_total', 'reconcile_errors_total', 'terminal_reconcile_errors_total', 'reconcile_panics_total'].map(
      (name) => `controller_runtime_${name}`,
    ),
    ...['reconcile_time_seconds', 'max_concurrent_reconciles', 'active_workers', 'reconcile_timeouts_total'].map(
      (name) => `controller_runtime_${name}`,
    ),
    ...['requests_total', 'request_duration_seconds', 'request_retries_total', 'rate_limiter_duration_seconds'].map(
      (name) => `rest_client_${name}`,
    ),
    'informer_processing_latency_seconds',
  ];
  for (const name of names) assert.match(text, new RegExp(`^# TYPE ${name} `, 'm'));
});
