/** NIST SP 800-63B 3.1.1.2: fifteen characters where a password may stand alone, and room for a long sentence. */
export const passwordLengthMin = 15
export const passwordLengthMax = 256
