export { type ApplyRequest, type ApplyResult, applyPatch } from './apply.ts';
export { keepTimes } from './times.ts';
export { type TrackRequest, trackUpdate } from './track.ts';
