import { ReeveError } from '../errors/errors.ts';

/** Thrown by a reconcile when trying again cannot help: the key rests until its object changes. */
export class TerminalError extends ReeveError {
  constructor(message: string, options: { subjects?: readonly string[]; cause?: unknown } = {}) {
    super('TERMINAL', message, options);
    this.name = 'TerminalError';
  }
}
