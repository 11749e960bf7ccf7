/** Passwords that the console makes for people. */

/** The shortest that the hub accepts. */
export const passwordLengthMin = 12;

/** 144 bits: beyond guessing, and short enough to type once. */
const passwordBytes = 18;

export function newPassword(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(passwordBytes));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_');
}
