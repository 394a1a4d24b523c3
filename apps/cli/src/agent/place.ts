/** Where an agent lives. Two agents of one member cannot live in one place: so a new one knows that its predecessor is dead. */
export interface Place {
  /** Never that of another machine, of another boot, or of another network namespace. */
  readonly id: string;
}

/** Undefined: an agent of this member lives here already. Held until this process ends. */
export type TakePlace = (member: string) => Promise<Place | undefined>;
