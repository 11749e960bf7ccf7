/** What a job would do, in sentences. */
import type { PreviewJobQuery } from '../generated/operations.js';

type Preview = PreviewJobQuery['previewJob'];

/** One line each: devices, faults of the arguments, waves, the worst case and the time. */
export function previewInWords({
  targetCount,
  onlineCount,
  missingToolCount,
  argumentErrors,
  waves,
  blastRadius,
  estimatedSeconds,
}: Preview): readonly string[] {
  if (targetCount === 0) return ['The filter matches no devices.'];
  return [
    `The job selects ${devices(targetCount)}; ${onlineCount} of them ${onlineCount === 1 ? 'is' : 'are'} online now.`,
    ...(missingToolCount > 0 ? [`${devices(missingToolCount)} without this tool will be rejected.`] : []),
    ...argumentErrors.map(
      ({ message, deviceCount }) => `${devices(deviceCount)} will reject the arguments: ${message}`,
    ),
    waves.length > 1
      ? `It works in ${waves.length} waves: ${waves.join(', ')} devices.`
      : 'It has no waves: all devices are one group.',
    `In the worst case it reaches ${devices(blastRadius)} before its rules stop it.`,
    ...(estimatedSeconds === null ? [] : [`It takes about ${durationInWords(estimatedSeconds)}.`]),
  ];
}

function devices(count: number): string {
  return count === 1 ? '1 device' : `${count} devices`;
}

function durationInWords(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
