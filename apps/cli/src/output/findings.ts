/** Findings of a check as lines: the worst first, each with what to do. */
import { type Finding, formatSlots } from '@reeve/redis';
import type { Style } from './style.ts';

const order = { broken: 0, degraded: 1, info: 2 } as const;
/** Long lists of slots are for --json. */
const MOST_SLOTS_TEXT = 60;

export function findingLines(findings: readonly Finding[], style: Style): readonly string[] {
  const paint = { broken: style.red, degraded: style.yellow, info: style.dim } as const;
  return [...findings]
    .sort((a, b) => order[a.severity] - order[b.severity])
    .flatMap(({ code, severity, message, slots, remedy }) => {
      const text = slots && slots.length > 0 ? formatSlots(slots) : '';
      const which = text === '' || text.length > MOST_SLOTS_TEXT || message.includes(text) ? '' : ` (slots ${text})`;
      return [
        `${paint[severity](`${severity}: ${message}`)}${which} [${code}]`,
        ...(remedy === '' ? [] : [`    → ${remedy}`]),
      ];
    });
}
