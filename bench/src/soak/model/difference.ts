/** The service does not do what the model says. `place`: the location, for its last steps; null: none alone. */
export class Difference extends Error {
  readonly place: string | null

  constructor(place: string | null, message: string) {
    super(message)
    this.place = place
  }
}
