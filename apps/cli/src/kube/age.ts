/** How long ago something was, in the few letters that tables of Kubernetes have for it. */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** The longer, the coarser: `90s`, `5m12s`, `40m`, `3h20m`, `30h`, `5d4h`, `40d`, `3y20d`. */
export function durationText(ms: number): string {
  if (ms < -SECOND) return '<invalid>';
  const whole = (unit: number): number => Math.floor(Math.max(0, ms) / unit);
  const two = (unit: number, letter: string, smaller: number, small: string): string => {
    const rest = Math.floor((Math.max(0, ms) % unit) / smaller);
    return `${whole(unit)}${letter}${rest === 0 ? '' : `${rest}${small}`}`;
  };
  if (ms < 2 * MINUTE) return `${whole(SECOND)}s`;
  if (ms < 10 * MINUTE) return two(MINUTE, 'm', SECOND, 's');
  if (ms < 3 * HOUR) return `${whole(MINUTE)}m`;
  if (ms < 8 * HOUR) return two(HOUR, 'h', MINUTE, 'm');
  if (ms < 48 * HOUR) return `${whole(HOUR)}h`;
  if (ms < 8 * DAY) return two(DAY, 'd', HOUR, 'h');
  if (ms < 2 * YEAR) return `${whole(DAY)}d`;
  if (ms < 8 * YEAR) return two(YEAR, 'y', DAY, 'd');
  return `${whole(YEAR)}y`;
}

/** @param time as objects have it. */
export function ageText(time: unknown, now: number): string {
  const at = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(at) ? '<unknown>' : durationText(now - at);
}
