/** Search parameters of an address, only as far as a page understands them. */

type Raw = Readonly<Record<string, unknown>>;

/**
 * A validator for the router. The router merges its result into the raw parameters, so the names
 * that `parse` leaves out have to be undefined there.
 */
export function knownSearch<Search extends object>(parse: (raw: Raw) => Search): (raw: Raw) => NoInfer<Search> {
  return (raw) => {
    const dropped = Object.fromEntries(Object.keys(raw).map((name) => [name, undefined]));
    return { ...dropped, ...parse(raw) };
  };
}
