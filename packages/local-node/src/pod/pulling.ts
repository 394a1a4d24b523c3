/** How a container waits for its image, in the words of Kubernetes. Pure. */
import type { NoImage } from '../image/images.ts';
import type { Obstacle } from './view.ts';

const RETRY_MS = 10_000;
const MOST_RETRY_MS = 300_000;
const COMING_MS = 1_000;

export interface Pulling {
  readonly obstacle: Obstacle;
  /** To be told as an event. Of an image on its way only once. */
  readonly event: string | undefined;
}

/** @param before what it waited for last time */
export function pulling(name: string, image: NoImage, before: Obstacle | undefined, now: number): Pulling {
  const { message } = image;
  if (image.isComing) {
    const { waitMs, pullingSince } = before ?? {};
    return {
      obstacle: {
        reason: 'ContainerCreating',
        message,
        retryAt: now + COMING_MS,
        // If it fails again, it is put off for longer than last time.
        ...(waitMs !== undefined && { waitMs }),
        pullingSince: pullingSince ?? now,
      },
      event: pullingSince === undefined ? `Pulling image "${name}"` : undefined,
    };
  }
  const waitMs = Math.min(MOST_RETRY_MS, (before?.waitMs ?? RETRY_MS / 2) * 2);
  const reason = before?.waitMs === undefined ? 'ErrImagePull' : 'ImagePullBackOff';
  return {
    obstacle: { reason, message, waitMs, retryAt: now + waitMs },
    event: `Failed to pull image "${name}": ${message}`,
  };
}

export function pulledText(name: string, tookMs: number): string {
  const took = durationText(tookMs);
  return `Successfully pulled image "${name}" in ${took} (${took} including waiting).`;
}

/** `250ms`, `3.2s`, `1m10s`. */
function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  const minutes = Math.floor(ms / 60_000);
  const seconds = Number(((ms - minutes * 60_000) / 1_000).toFixed(3));
  return `${minutes === 0 ? '' : `${minutes}m`}${seconds}s`;
}
