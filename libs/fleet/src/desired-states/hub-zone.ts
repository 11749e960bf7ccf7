/** The zone of devices that have none, and of their windows: that of this machine unless given. */
export function hubZone({ timeZone }: { readonly timeZone?: string | undefined }): string {
  return timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}
