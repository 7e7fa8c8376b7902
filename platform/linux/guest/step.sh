# Sourced by the jobs: one run of the guest, and what its output must show.

step() {  # description, expected text in the output, then emmc-vp linux arguments
  local what=$1 expected=$2 out status=0
  shift 2
  out=$(guest --quiet "$@" 2>&1) || status=$?
  if [ $status -ne 0 ] || ! grep -q -e "$expected" <<<"$out"; then
    printf '%s\nFAILED (exit status %d): %s: expected %s\n' "$out" "$status" "$what" "$expected" >&2
    exit 1
  fi
  echo "ok: $what"
}
