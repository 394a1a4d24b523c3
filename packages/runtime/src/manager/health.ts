/** Is it alive, is it ready, what does it measure: answers for probes and Prometheus, without a server around them. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly note?: string;
}

export interface HealthSource {
  /** What must hold, or the process should be restarted. */
  livez(): readonly Check[];
  /** What must hold before others rely on it. */
  readyz(): readonly Check[];
  metrics(): string;
}

export interface HealthAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** `path` with its query. */
export function answerHealth(source: HealthSource, method: string, path: string): HealthAnswer {
  const [where = '', query = ''] = path.split('?', 2);
  const text = 'text/plain; charset=utf-8';
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, type: text, body: 'only GET\n' };
  if (where === '/metrics') {
    return { status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', body: source.metrics() };
  }
  const checks =
    where === '/livez' || where === '/healthz' ? source.livez() : where === '/readyz' ? source.readyz() : undefined;
  if (!checks) return { status: 404, type: text, body: 'try /livez, /readyz or /metrics\n' };
  const ok = checks.every((check) => check.ok);
  const isVerbose = !ok || query.split('&').some((one) => one === 'verbose' || one.startsWith('verbose='));
  const lines = checks.map(
    ({ name, ok: fine, note }) => `[${fine ? '+' : '-'}]${name} ${fine ? 'ok' : 'failed'}${note ? `: ${note}` : ''}`,
  );
  return { status: ok ? 200 : 503, type: text, body: isVerbose ? `${lines.join('\n')}\n` : 'ok\n' };
}
