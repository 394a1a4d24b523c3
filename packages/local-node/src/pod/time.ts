/** As Kubernetes writes times: in whole seconds. */
export function isoTime(ms: number): string {
  return new Date(Math.floor(ms / 1_000) * 1_000).toISOString().replace('.000Z', 'Z');
}
