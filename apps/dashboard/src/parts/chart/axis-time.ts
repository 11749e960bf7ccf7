/** A moment on a time axis: the day at midnight, and otherwise the time of the viewer's zone. */
export function axisTime(at: number, language: string): string {
  const moment = new Date(at);
  const isMidnight = moment.getHours() === 0 && moment.getMinutes() === 0 && moment.getSeconds() === 0;
  if (isMidnight) return new Intl.DateTimeFormat(language, { month: 'short', day: 'numeric' }).format(moment);
  return new Intl.DateTimeFormat(language, {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    ...(moment.getSeconds() > 0 && { second: '2-digit' }),
  }).format(moment);
}
