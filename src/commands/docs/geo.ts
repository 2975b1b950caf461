/** What the commands of places are for; the form of the lines is told in command-docs.ts. */
export const GEO_DOCS = `
geoadd key [condition=NX|XX] [CH] (longitude latitude member)...
  3.2.0 O(added*log(members)) Adds places by their longitude and latitude
geodist key member1 member2 [unit=M|KM|FT|MI]
  3.2.0 O(1) Tells how far two places are from each other
geohash key [member...]
  3.2.0 O(asked) Tells where places are, as Geohash strings
geopos key [member...]
  3.2.0 O(asked) Reads the longitudes and latitudes of places
georadius key longitude latitude radius (unit=M|KM|FT|MI) [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [order=ASC|DESC] [STORE destination] [STOREDIST destination]
  3.2.0 O(nearby+log(members)) Finds the places within a distance of a point, and can store them
  rather 6.2.0 GEOSEARCH or GEOSEARCHSTORE with BYRADIUS
georadius_ro key longitude latitude radius (unit=M|KM|FT|MI) [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [order=ASC|DESC]
  3.2.10 O(nearby+log(members)) Finds the places within a distance of a point
  rather 6.2.0 GEOSEARCH with BYRADIUS
georadiusbymember key member radius (unit=M|KM|FT|MI) [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [order=ASC|DESC] [STORE destination] [STOREDIST destination]
  3.2.0 O(nearby+log(members)) Finds the places within a distance of another, and can store them
  rather 6.2.0 GEOSEARCH or GEOSEARCHSTORE with FROMMEMBER and BYRADIUS
georadiusbymember_ro key member radius (unit=M|KM|FT|MI) [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [order=ASC|DESC]
  3.2.10 O(nearby+log(members)) Finds the places within a distance of another
  rather 6.2.0 GEOSEARCH with FROMMEMBER and BYRADIUS
geosearch key (from=FROMMEMBER member|FROMLONLAT longitude latitude) (by=BYRADIUS radius (unit=M|KM|FT|MI)|BYBOX width height (unit=M|KM|FT|MI)) [order=ASC|DESC] [COUNT count [ANY]] [WITHCOORD] [WITHDIST] [WITHHASH]
  6.2.0 O(nearby+log(members)) Finds the places inside a circle or a box
geosearchstore destination source (from=FROMMEMBER member|FROMLONLAT longitude latitude) (by=BYRADIUS radius (unit=M|KM|FT|MI)|BYBOX width height (unit=M|KM|FT|MI)) [order=ASC|DESC] [COUNT count [ANY]] [STOREDIST]
  6.2.0 O(nearby+log(members)) Stores the places inside a circle or a box as a sorted set
`
