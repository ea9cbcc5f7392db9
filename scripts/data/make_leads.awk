# make_leads.awk - leads.csv of the examples: lead_id, age, city, visits, signed_on, converted. Some ages are missing, some cities hold a
# comma, a quote, a line end. A pure function of its variables with any awk: the random numbers are its own.
#   awk -v rows=2000 -v seed=1 -f make_leads.awk >leads.csv
#   awk -v rows=30 -v seed=2 -v bare=1 -f make_leads.awk >new.csv        without labels
function next_of(n) { seed = (seed * 16807) % 2147483647; return int(seed / 2147483647 * n) }
BEGIN {
    seed = seed * 7919 % 2147483647 + 1
    cities = split("Oslo|Bergen|\"Paris, TX\"|\"The \"\"Hague\"\"\"|\"New\nYork\"|Köln", city, "|")
    printf "lead_id,age,city,visits,signed_on%s\n", bare ? "" : ",converted"
    for (i = 1; i <= rows; i++) {
        age = 18 + next_of(60); c = 1 + next_of(cities); visits = next_of(40)
        y = (age > 40) + (visits > 20) + (c < 3) > 1
        if (next_of(20) == 0) y = 1 - y
        printf "L%05d,%s,%s,%d.%d,2024-%02d-%02d", i, next_of(12) ? age : "", city[c], visits, next_of(10),
            1 + next_of(12), 1 + next_of(28)
        print bare ? "" : "," (y ? "yes" : "no")
    }
}
